#include "textflag.h"

// The rows of expTable, at R8, and its powers.
#define LEAST 0(R8)
#define MOST 32(R8)
#define PERUNIT 64(R8)
#define SHIFT 96(R8)
#define MINUSLOG2 128(R8)
#define MINUSLOG2LOW 160(R8)
#define ONE 192(R8)
#define HALF 224(R8)
#define C3 256(R8)
#define C4 288(R8)
#define C5 320(R8)
#define MASK 352(R8)
#define POWER(k) 384(R8)(k*8)

// EXP makes Y2 = exp(Y0), with LEAST in Y14, MOST in Y15 and 63 in BX:
//
//	Y9    where the result is not 0, elsewhere it is made from exp(0): arithmetic with results below the least number is slow;
//	Y1    shifted, Y3 = r; a NaN stays one
//	Y4    2^(k/64), Y6 and Y1 the powers of 2
//	Y2    eʳ, and then the product
#define EXP \
	VMINPD  Y0, Y15, Y0; \
	VCMPPD  $0x15, Y14, Y0, Y9; \
	VANDPD  Y9, Y0, Y0; \
	VMULPD  PERUNIT, Y0, Y1; \
	VADDPD  SHIFT, Y1, Y1; \
	VSUBPD  SHIFT, Y1, Y2; \
	VMULPD  MINUSLOG2, Y2, Y3; \
	VADDPD  Y0, Y3, Y3; \
	VMULPD  MINUSLOG2LOW, Y2, Y2; \
	VADDPD  Y2, Y3, Y3; \
	VPAND        MASK, Y1, Y1; \
	VEXTRACTF128 $1, Y1, X5; \
	VMOVQ        X1, R9; \
	VPEXTRQ      $1, X1, R10; \
	VMOVQ        X5, R11; \
	VPEXTRQ      $1, X5, R12; \
	ANDQ         BX, R9; \
	ANDQ         BX, R10; \
	ANDQ         BX, R11; \
	ANDQ         BX, R12; \
	VMOVSD       POWER(R9), X4; \
	VMOVHPD      POWER(R10), X4, X4; \
	VMOVSD       POWER(R11), X5; \
	VMOVHPD      POWER(R12), X5, X5; \
	VINSERTF128  $1, X5, Y4, Y4; \
	VPSRLQ       $6, Y1, Y1; \
	VPSRLQ       $1, Y1, Y6; \
	VPSUBQ       Y6, Y1, Y1; \
	VPSLLQ       $52, Y6, Y6; \
	VPSLLQ       $52, Y1, Y1; \
	VMULPD Y3, Y3, Y7; \
	VMULPD C3, Y3, Y2; \
	VADDPD HALF, Y2, Y2; \
	VMULPD Y7, Y2, Y2; \
	VADDPD Y3, Y2, Y2; \
	VMULPD C5, Y3, Y8; \
	VADDPD C4, Y8, Y8; \
	VMULPD Y7, Y7, Y7; \
	VMULPD Y8, Y7, Y8; \
	VADDPD Y8, Y2, Y2; \
	VADDPD ONE, Y2, Y2; \
	VMULPD  Y4, Y2, Y2; \
	VMULPD  Y6, Y2, Y2; \
	VMULPD  Y1, Y2, Y2; \
	VANDPD  Y9, Y2, Y2

// func expAVX2(dst, x *float64, n int, t *[12][4]float64)
TEXT ·expAVX2(SB), NOSPLIT, $0-32
	MOVQ    dst+0(FP), DI
	MOVQ    x+8(FP), SI
	MOVQ    n+16(FP), CX
	MOVQ    t+24(FP), R8
	VMOVUPD LEAST, Y14
	VMOVUPD MOST, Y15
	MOVQ    $63, BX
	XORQ    AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y0
	EXP
	VMOVUPD Y2, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func expApartAVX2(dst, sum, x, from *float64, n int, t *[12][4]float64)
TEXT ·expApartAVX2(SB), NOSPLIT, $0-48
	MOVQ    dst+0(FP), DI
	MOVQ    sum+8(FP), DX
	MOVQ    x+16(FP), SI
	MOVQ    from+24(FP), R13
	MOVQ    n+32(FP), CX
	MOVQ    t+40(FP), R8
	VMOVUPD LEAST, Y14
	VMOVUPD MOST, Y15
	MOVQ    $63, BX
	XORQ    AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y0
	VSUBPD  (R13)(AX*8), Y0, Y0
	EXP
	VMOVUPD Y2, (DI)(AX*8)
	VADDPD  (DX)(AX*8), Y2, Y2
	VMOVUPD Y2, (DX)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// The rows of logTable, at R8.
#define LOGONE 0(R8)
#define LOGTWO 32(R8)
#define LOGHALF 64(R8)
#define LEASTNORMAL 96(R8)
#define MOSTFINITE 128(R8)
#define UP 160(R8)
#define TWO52 192(R8)
#define BIAS 224(R8)
#define FRACTION 256(R8)
#define ROOTHALF 288(R8)
#define LOG2HIGH 320(R8)
#define LOG2LOW 352(R8)
#define LOGS(k) (384+32*k)(R8)

// Y7 = log of normal numbers in Y0, which stay.
#define LOG \
	VPADDQ  UP, Y0, Y1         \
	VPSRLQ  $52, Y1, Y2        \
	VPOR    TWO52, Y2, Y2      \
	VSUBPD  BIAS, Y2, Y2       \
	VPAND   FRACTION, Y1, Y1   \
	VPADDQ  ROOTHALF, Y1, Y1   \
	VSUBPD  LOGONE, Y1, Y1     \
	VADDPD  LOGTWO, Y1, Y3     \
	VDIVPD  Y3, Y1, Y3         \
	VMULPD  Y3, Y3, Y4         \
	VMULPD  Y4, Y4, Y5         \
	VMULPD  LOGS(6), Y5, Y6    \
	VADDPD  LOGS(4), Y6, Y6    \
	VMULPD  Y5, Y6, Y6         \
	VADDPD  LOGS(2), Y6, Y6    \
	VMULPD  Y5, Y6, Y6         \
	VADDPD  LOGS(0), Y6, Y6    \
	VMULPD  Y4, Y6, Y6         \
	VMULPD  LOGS(5), Y5, Y7    \
	VADDPD  LOGS(3), Y7, Y7    \
	VMULPD  Y5, Y7, Y7         \
	VADDPD  LOGS(1), Y7, Y7    \
	VMULPD  Y5, Y7, Y7         \
	VADDPD  Y7, Y6, Y6         \
	VMULPD  LOGHALF, Y1, Y7    \
	VMULPD  Y1, Y7, Y7         \
	VADDPD  Y7, Y6, Y6         \
	VMULPD  Y6, Y3, Y6         \
	VMULPD  LOG2LOW, Y2, Y8    \
	VADDPD  Y8, Y6, Y6         \
	VSUBPD  Y6, Y7, Y7         \
	VSUBPD  Y1, Y7, Y7         \
	VMULPD  LOG2HIGH, Y2, Y2   \
	VSUBPD  Y7, Y2, Y7

// func logAVX2(dst, x *float64, n int, t *[19][4]float64) (done int)
TEXT ·logAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ t+24(FP), R8
	XORQ AX, AX

loop:
	VMOVUPD   (SI)(AX*8), Y0
	VCMPPD    $0x1d, LEASTNORMAL, Y0, Y1 // at least
	VCMPPD    $0x12, MOSTFINITE, Y0, Y2  // at most
	VANDPD    Y1, Y2, Y1
	VMOVMSKPD Y1, R9
	CMPQ      R9, $15
	JNE       end
	LOG
	VMOVUPD   Y7, (DI)(AX*8)
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       loop

end:
	MOVQ AX, done+32(FP)
	VZEROUPPER
	RET

// func log1pAVX2(dst, x *float64, n int, t *[19][4]float64)
TEXT ·log1pAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ t+24(FP), R8
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y9
	VADDPD  LOGONE, Y9, Y0
	LOG
	VSUBPD  LOGONE, Y0, Y1
	VSUBPD  Y1, Y9, Y1
	VDIVPD  Y0, Y1, Y1
	VADDPD  Y1, Y7, Y7
	VMOVUPD Y7, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET
