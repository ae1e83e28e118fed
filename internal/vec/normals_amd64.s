#include "textflag.h"

// The rows of normalTable, at R8.
#define ONE 0(R8)
#define ABOVE 32(R8)
#define LOWBITS 64(R8)
#define TINY 96(R8)
#define BELOW 128(R8)
#define FRACTION 160(R8)
#define UNIT 192(R8)
#define TWO52 224(R8)
#define BIAS 256(R8)
#define ROOT2 288(R8)
#define TWOLOG2 320(R8)
#define MINUSLOG2 352(R8)
#define MIDDLE 384(R8)
#define ARTANHS(k) (416+32*k)(R8)
#define SINES(k) (576+32*k)(R8)
#define COSINES(k) (736+32*k)(R8)
#define LANES 896(R8)
#define ROTATE 960(R8)

// A round of sfc64 with its state in Y0 to Y3; Y14 is 1, Y15 the rotation.
#define SFC(x) \
	VPADDQ  Y1, Y0, x    \
	VPADDQ  Y3, x, x     \
	VPADDQ  Y14, Y3, Y3  \
	VPSRLQ  $11, Y1, Y0  \
	VPXOR   Y1, Y0, Y0   \
	VPSLLQ  $3, Y2, Y1   \
	VPADDQ  Y2, Y1, Y1   \
	VPSHUFB Y15, Y2, Y2  \
	VPADDQ  x, Y2, Y2

// quartic of z to p, where z2 is z²; z and q are overwritten.
#define QUARTIC(c0, c1, c2, c3, c4, z, z2, p, q) \
	VMULPD c1, z, p   \
	VADDPD c0, p, p   \
	VMULPD c3, z, q   \
	VADDPD c2, q, q   \
	VMULPD c4, z2, z  \
	VADDPD z, q, q    \
	VMULPD q, z2, q   \
	VADDPD q, p, p

// func normalsAVX2(dst *float64, tail *[16]float64, blocks int, key0, key1 uint64, t *[31][4]uint64)
TEXT ·normalsAVX2(SB), NOSPLIT, $0-48
	MOVQ    t+40(FP), R8
	VMOVDQU UNIT, Y14
	VMOVDQU ROTATE, Y15
	XORQ    BX, BX         // of lanes 0 to 3, then of 4 to 7: 0, then 32 bytes

half:
	VPBROADCASTQ key0+24(FP), Y0
	VPBROADCASTQ key1+32(FP), Y1
	VMOVDQU      LANES(BX*1), Y2
	VMOVDQU      Y14, Y3
	MOVQ         $12, AX

warm:
	SFC(Y4)
	DECQ AX
	JNE  warm
	MOVQ dst+0(FP), DI
	MOVQ tail+8(FP), SI
	MOVQ blocks+16(FP), CX

next:
	DECQ  CX
	JGE   pairs
	TESTQ SI, SI
	JEQ   done
	MOVQ  SI, DI
	XORQ  SI, SI

pairs:
	SFC(Y4)
	SFC(Y5)

	// Y6 = u
	VPSRLQ $12, Y4, Y6
	VPOR   ONE, Y6, Y6
	VSUBPD ONE, Y6, Y6
	VPAND  LOWBITS, Y4, Y4
	VPOR   TINY, Y4, Y4
	VSUBPD BELOW, Y4, Y4
	VADDPD Y4, Y6, Y6

	// Y6 = r
	VPAND   FRACTION, Y6, Y7
	VPOR    ONE, Y7, Y7
	VPSRLQ  $52, Y6, Y6
	VPOR    TWO52, Y6, Y6
	VSUBPD  BIAS, Y6, Y6
	VSUBPD  ROOT2, Y7, Y8
	VADDPD  ROOT2, Y7, Y7
	VDIVPD  Y7, Y8, Y8
	VMULPD  TWOLOG2, Y6, Y6
	VMOVUPD MINUSLOG2, Y7
	VSUBPD  Y6, Y7, Y6
	VMULPD  Y8, Y8, Y9
	VMULPD  Y9, Y9, Y10
	QUARTIC(ARTANHS(0), ARTANHS(1), ARTANHS(2), ARTANHS(3), ARTANHS(4), Y9, Y10, Y11, Y12)
	VMULPD  Y11, Y8, Y8
	VSUBPD  Y8, Y6, Y6
	VXORPD  Y7, Y7, Y7
	VMAXPD  Y7, Y6, Y6
	VSQRTPD Y6, Y6

	// Y7 = v, Y10 = √2·sin(θ/2), Y12 = √2·cos(θ/2)
	VPSRLQ $12, Y5, Y7
	VPOR   ABOVE, Y7, Y7
	VSUBPD MIDDLE, Y7, Y7
	VMULPD Y7, Y7, Y8
	VMULPD Y8, Y8, Y9
	VMOVUPD Y8, Y13
	QUARTIC(SINES(0), SINES(1), SINES(2), SINES(3), SINES(4), Y8, Y9, Y10, Y11)
	QUARTIC(COSINES(0), COSINES(1), COSINES(2), COSINES(3), COSINES(4), Y13, Y9, Y12, Y11)
	VMULPD Y10, Y7, Y10

	VMULPD  Y10, Y6, Y7
	VMULPD  Y10, Y7, Y10
	VSUBPD  Y10, Y6, Y6
	VPSLLQ  $63, Y5, Y5
	VXORPD  Y5, Y6, Y6
	VMULPD  Y12, Y7, Y7
	VMOVUPD Y6, (DI)(BX*1)
	VMOVUPD Y7, 64(DI)(BX*1)
	ADDQ    $128, DI
	JMP     next

done:
	ADDQ $32, BX
	CMPQ BX, $64
	JLT  half
	VZEROUPPER
	RET

#define SFC512(x) \
	VPADDQ Z1, Z0, x     \
	VPADDQ Z3, x, x      \
	VPADDQ Z31, Z3, Z3   \
	VPSRLQ $11, Z1, Z0   \
	VPXORQ Z1, Z0, Z0    \
	VPSLLQ $3, Z2, Z1    \
	VPADDQ Z2, Z1, Z1    \
	VPROLQ $24, Z2, Z2   \
	VPADDQ x, Z2, Z2

#define QUARTIC512(c0, c1, c2, c3, c4, z, z2, p, q) \
	VMULPD.BCST c1, z, p   \
	VADDPD.BCST c0, p, p   \
	VMULPD.BCST c3, z, q   \
	VADDPD.BCST c2, q, q   \
	VMULPD.BCST c4, z2, z  \
	VADDPD      z, q, q    \
	VMULPD      q, z2, q   \
	VADDPD      q, p, p

// func normalsAVX512(dst *float64, tail *[16]float64, blocks int, key0, key1 uint64, t *[31][4]uint64)
TEXT ·normalsAVX512(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         tail+8(FP), SI
	MOVQ         blocks+16(FP), CX
	MOVQ         t+40(FP), R8
	VPBROADCASTQ key0+24(FP), Z0
	VPBROADCASTQ key1+32(FP), Z1
	VMOVDQU64    LANES, Z2
	VPBROADCASTQ UNIT, Z31
	VMOVDQA64    Z31, Z3
	VPBROADCASTQ ONE, Z30
	VPBROADCASTQ LOWBITS, Z29
	VPBROADCASTQ TINY, Z28
	VBROADCASTSD ROOT2, Z27
	VBROADCASTSD MINUSLOG2, Z26
	VPXORQ       Z25, Z25, Z25
	MOVQ         $12, AX

warm:
	SFC512(Z4)
	DECQ AX
	JNE  warm

next:
	DECQ  CX
	JGE   pairs
	TESTQ SI, SI
	JEQ   done
	MOVQ  SI, DI
	XORQ  SI, SI

pairs:
	SFC512(Z4)
	SFC512(Z5)

	// Z6 = u
	VPSRLQ      $12, Z4, Z6
	VPORQ       Z30, Z6, Z6
	VSUBPD      Z30, Z6, Z6
	VPTERNLOGQ  $0xea, Z28, Z29, Z4 // Z4 & Z29 | Z28
	VSUBPD.BCST BELOW, Z4, Z4
	VADDPD      Z4, Z6, Z6

	// Z6 = r
	VGETMANTPD  $0, Z6, Z7
	VGETEXPPD   Z6, Z6
	VSUBPD      Z27, Z7, Z8
	VADDPD      Z27, Z7, Z7
	VDIVPD      Z7, Z8, Z8
	VMULPD.BCST TWOLOG2, Z6, Z6
	VSUBPD      Z6, Z26, Z6
	VMULPD      Z8, Z8, Z9
	VMULPD      Z9, Z9, Z10
	QUARTIC512(ARTANHS(0), ARTANHS(1), ARTANHS(2), ARTANHS(3), ARTANHS(4), Z9, Z10, Z11, Z12)
	VMULPD      Z11, Z8, Z8
	VSUBPD      Z8, Z6, Z6
	VMAXPD      Z25, Z6, Z6
	VSQRTPD     Z6, Z6

	// Z7 = v, Z10 = √2·sin(θ/2), Z12 = √2·cos(θ/2)
	VPSRLQ      $12, Z5, Z7
	VPORQ.BCST  ABOVE, Z7, Z7
	VSUBPD.BCST MIDDLE, Z7, Z7
	VMULPD      Z7, Z7, Z8
	VMULPD      Z8, Z8, Z9
	VMOVAPD     Z8, Z13
	QUARTIC512(SINES(0), SINES(1), SINES(2), SINES(3), SINES(4), Z8, Z9, Z10, Z11)
	QUARTIC512(COSINES(0), COSINES(1), COSINES(2), COSINES(3), COSINES(4), Z13, Z9, Z12, Z11)
	VMULPD      Z10, Z7, Z10

	VMULPD  Z10, Z6, Z7
	VMULPD  Z10, Z7, Z10
	VSUBPD  Z10, Z6, Z6
	VPSLLQ  $63, Z5, Z5
	VPXORQ  Z5, Z6, Z6
	VMULPD  Z12, Z7, Z7
	VMOVUPD Z6, (DI)
	VMOVUPD Z7, 64(DI)
	ADDQ    $128, DI
	JMP     next

done:
	VZEROUPPER
	RET
