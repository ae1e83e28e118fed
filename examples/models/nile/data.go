package nile

// FirstYear is the year of Flow[0].
const FirstYear = 1871

// Flow is the volume of water that the Nile carried past Aswan in each year
// from 1871 to 1970, in 10⁸ m³. Source: G. W. Cobb, The problem of the Nile:
// conditional solution to a change-point problem, Biometrika 65 (1978),
// 243–251; also J. Durbin and S. J. Koopman, Time Series Analysis by State
// Space Methods (2001), and data set Nile of R.
var Flow = []float64{
	1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140,
	1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969,
	831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865,
	845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050,
	918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
}
