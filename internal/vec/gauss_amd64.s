#include "textflag.h"

// The rows of gaussTable, at R8, and its powers.
#define HALF 0(R8)
#define MOST 32(R8)
#define PERUNIT 64(R8)
#define SHIFT 96(R8)
#define MINUSLOG2 128(R8)
#define MINUSLOG2LOW 160(R8)
#define ONE 192(R8)
#define C3 224(R8)
#define C4 256(R8)
#define C5 288(R8)
#define POWER(k) 320(R8)(k*8)

// func gaussAVX2(dst, x *float64, n int, a float64, t *[10][4]float64)
TEXT ·gaussAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD a+24(FP), Y0
	MOVQ         t+32(FP), R8
	MOVQ         $63, BX
	XORQ         AX, AX

loop:
	// Y2 = x²/2, Y3 = shifted, Y5 = r
	VMOVUPD (SI)(AX*8), Y1
	VMULPD  HALF, Y1, Y2
	VMULPD  Y1, Y2, Y2
	VMULPD  PERUNIT, Y2, Y4
	VMOVUPD SHIFT, Y3
	VSUBPD  Y4, Y3, Y3
	VSUBPD  SHIFT, Y3, Y4
	VMULPD  MINUSLOG2, Y4, Y5
	VSUBPD  Y2, Y5, Y5
	VMULPD  MINUSLOG2LOW, Y4, Y4
	VADDPD  Y4, Y5, Y5

	// Y6 = scale
	VEXTRACTF128 $1, Y3, X4
	VMOVQ        X3, R9
	VPEXTRQ      $1, X3, R10
	VMOVQ        X4, R11
	VPEXTRQ      $1, X4, R12
	ANDQ         BX, R9
	ANDQ         BX, R10
	ANDQ         BX, R11
	ANDQ         BX, R12
	VMOVSD       POWER(R9), X6
	VMOVHPD      POWER(R10), X6, X6
	VMOVSD       POWER(R11), X7
	VMOVHPD      POWER(R12), X7, X7
	VINSERTF128  $1, X7, Y6, Y6
	VPSRLQ       $6, Y3, Y3
	VPSLLQ       $52, Y3, Y3
	VPADDQ       Y3, Y6, Y6

	// Y1 = eʳ
	VMULPD Y5, Y5, Y4
	VMULPD C3, Y5, Y1
	VADDPD HALF, Y1, Y1
	VMULPD Y4, Y1, Y1
	VADDPD Y5, Y1, Y1
	VMULPD C5, Y5, Y7
	VADDPD C4, Y7, Y7
	VMULPD Y4, Y4, Y4
	VMULPD Y7, Y4, Y7
	VADDPD Y7, Y1, Y1
	VADDPD ONE, Y1, Y1

	VMULPD  Y6, Y1, Y1
	VMULPD  Y0, Y1, Y1
	VCMPPD  $0x11, MOST, Y2, Y2 // x²/2 is less
	VANDPD  Y2, Y1, Y1
	VMOVUPD Y1, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET
