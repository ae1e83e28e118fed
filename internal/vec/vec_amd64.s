#include "textflag.h"

// TOTAL leaves the sum of the lanes of a, b, c and d in x, the low half of a, in the order of
// total in sum.go. It needs X1.
#define TOTAL(a, b, c, d, x) \
	VADDPD       b, a, a    \
	VADDPD       d, c, c    \
	VADDPD       c, a, a    \
	VEXTRACTF128 $1, a, X1  \
	VADDPD       X1, x, x   \
	VUNPCKHPD    x, x, X1   \
	VADDSD       X1, x, x

// ADDMUL16 adds Y4 times the 16 numbers from p on to Y0, …, Y3. It needs Y5.
#define ADDMUL16(p) \
	VMULPD (p), Y4, Y5   \
	VADDPD Y5, Y0, Y0    \
	VMULPD 32(p), Y4, Y5 \
	VADDPD Y5, Y1, Y1    \
	VMULPD 64(p), Y4, Y5 \
	VADDPD Y5, Y2, Y2    \
	VMULPD 96(p), Y4, Y5 \
	VADDPD Y5, Y3, Y3

// Each loop handles four numbers a turn; n is a positive multiple of four (of
// sixteen for sums). Products and sums are rounded one by one, as Go rounds
// them.

// func affineAVX2(dst, x *float64, n int, a, c float64)
TEXT ·affineAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD a+24(FP), Y0
	VBROADCASTSD c+32(FP), Y1
	XORQ         AX, AX

loop:
	VMULPD  (SI)(AX*8), Y0, Y2
	VADDPD  Y2, Y1, Y2
	VMOVUPD Y2, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func addScaledAVX2(dst, x *float64, n int, a float64)
TEXT ·addScaledAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD a+24(FP), Y0
	XORQ         AX, AX

loop:
	VMULPD  (SI)(AX*8), Y0, Y2
	VADDPD  (DI)(AX*8), Y2, Y2
	VMOVUPD Y2, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func affine2AVX2(dst, x, y *float64, n int, a, b, c float64)
TEXT ·affine2AVX2(SB), NOSPLIT, $0-56
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         y+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD a+32(FP), Y0
	VBROADCASTSD b+40(FP), Y1
	VBROADCASTSD c+48(FP), Y2
	XORQ         AX, AX

loop:
	VMULPD  (SI)(AX*8), Y0, Y3
	VADDPD  Y3, Y2, Y3
	VMULPD  (DX)(AX*8), Y1, Y4
	VADDPD  Y4, Y3, Y3
	VMOVUPD Y3, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func andStepAVX2(dst, x, y *float64, n int, b float64)
TEXT ·andStepAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         y+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD b+32(FP), Y0
	VXORPD       Y1, Y1, Y1
	XORQ         AX, AX

loop:
	VMULPD  (DX)(AX*8), Y0, Y2
	VADDPD  (SI)(AX*8), Y2, Y2
	VCMPPD  $0x1e, Y1, Y2, Y2 // > 0; NaN is not
	VANDPD  (DI)(AX*8), Y2, Y2
	VMOVUPD Y2, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func fillAVX2(dst *float64, n int, c float64)
TEXT ·fillAVX2(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         n+8(FP), CX
	VBROADCASTSD c+16(FP), Y0
	XORQ         AX, AX

loop:
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func addAVX2(dst, x, y *float64, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y0
	VADDPD  (DX)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func add3AVX2(dst, x, y, z *float64, n int)
TEXT ·add3AVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ z+24(FP), BX
	MOVQ n+32(FP), CX
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y0
	VADDPD  (DX)(AX*8), Y0, Y0
	VADDPD  (BX)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func mulAVX2(dst, x, y *float64, n int)
TEXT ·mulAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y0
	VMULPD  (DX)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func divAVX2(dst, x, y *float64, n int)
TEXT ·divAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y0
	VDIVPD  (DX)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func largerAVX2(dst, apart, x, y *float64, n int)
TEXT ·largerAVX2(SB), NOSPLIT, $0-40
	MOVQ     dst+0(FP), DI
	MOVQ     apart+8(FP), BX
	MOVQ     x+16(FP), SI
	MOVQ     y+24(FP), DX
	MOVQ     n+32(FP), CX
	VPCMPEQD Y5, Y5, Y5
	VPSLLQ   $63, Y5, Y5 // the sign
	XORQ     AX, AX

loop:
	VMOVUPD   (SI)(AX*8), Y0
	VMOVUPD   (DX)(AX*8), Y1
	VMAXPD    Y1, Y0, Y2     // y where one is NaN
	VCMPPD    $3, Y0, Y0, Y3 // x is NaN
	VBLENDVPD Y3, Y0, Y2, Y2
	VSUBPD    Y1, Y0, Y4
	VORPD     Y5, Y4, Y4
	VCMPPD    $0, Y1, Y0, Y3 // both are the same
	VANDNPD   Y4, Y3, Y4
	VMOVUPD   Y2, (DI)(AX*8)
	VMOVUPD   Y4, (BX)(AX*8)
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       loop
	VZEROUPPER
	RET

// func firstExitAVX2(x, m *float64, n, to, rest int, a, b float64) (k int, ago float64)
TEXT ·firstExitAVX2(SB), NOSPLIT, $0-72
	MOVQ         x+0(FP), DI
	MOVQ         m+8(FP), R9
	MOVQ         n+16(FP), R10
	VBROADCASTSD a+40(FP), Y0
	VBROADCASTSD b+48(FP), Y1
	SHLQ         $3, R10
	LEAQ         (DI)(R10*1), SI // speeds
	LEAQ         (SI)(R10*1), DX // lower bounds
	LEAQ         (DX)(R10*1), R8 // upper bounds
	MOVQ         $-1, R11        // the first
	VXORPD       X5, X5, X5      // how long ago it left
	VXORPD       X6, X6, X6
	XORQ         R12, R12

block: // of up to 64, from R12 to R13
	LEAQ    64(R12), R13
	CMPQ    R13, to+24(FP)
	CMOVQGT to+24(FP), R13
	LEAQ    -4(R13), AX
	XORQ    CX, CX

loop: // from the last to the first
	VMULPD    (R9)(AX*8), Y0, Y2
	VMULPD    (R9)(AX*8), Y1, Y3
	VADDPD    (DI)(AX*8), Y2, Y2
	VADDPD    (SI)(AX*8), Y3, Y3
	VMOVUPD   Y2, (DI)(AX*8)
	VMOVUPD   Y3, (SI)(AX*8)
	VCMPPD    $0x1d, (R8)(AX*8), Y2, Y4 // not below the upper bound
	VCMPPD    $0x12, (DX)(AX*8), Y2, Y2 // not above the lower one
	VORPD     Y4, Y2, Y2
	VMOVMSKPD Y2, BX
	SHLQ      $4, CX
	ORQ       BX, CX
	SUBQ      $4, AX
	CMPQ      AX, R12
	JGE       loop
	JMP       more

left: // by number AX, or it is on its bound
	BSFQ     CX, AX
	LEAQ     -1(CX), BX
	ANDQ     BX, CX
	ADDQ     R12, AX
	VMOVSD   (SI)(AX*8), X3
	MOVQ     (SI)(AX*8), R15
	SARQ     $63, R15
	ANDQ     R10, R15
	LEAQ     (R8)(AX*8), BX
	SUBQ     R15, BX
	VMOVSD   (DI)(AX*8), X2
	VSUBSD   (BX), X2, X2
	VDIVSD   X3, X2, X2
	VUCOMISD X5, X2
	JLS      more
	VUCOMISD X6, X3
	JEQ      more
	VMOVAPD  X2, X5
	MOVQ     AX, R11

more:
	TESTQ CX, CX
	JNE   left
	MOVQ  R13, R12
	CMPQ  R12, to+24(FP)
	JLT   block
	MOVQ   R11, k+56(FP)
	VMOVSD X5, ago+64(FP)

	MOVQ  rest+32(FP), CX
	LEAQ  (R8)(R10*1), DI
	ADDQ  R10, R9
	TESTQ CX, CX
	JEQ   done
	XORQ  AX, AX

rest:
	VMULPD  (R9)(AX*8), Y0, Y2
	VADDPD  (DI)(AX*8), Y2, Y2
	VMOVUPD Y2, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     rest

done:
	VZEROUPPER
	RET

// FOUR makes Y0 to Y3 the columns of 4 × 4 numbers at BX, of rows a, b, c and d that are R9 bytes apart, thrice R11.
#define FOUR \
	VMOVUPD    (BX), Y0;         \
	VMOVUPD    (BX)(R9*1), Y1;   \
	VMOVUPD    (BX)(R9*2), Y2;   \
	VMOVUPD    (BX)(R11*1), Y3;  \
	VUNPCKLPD  Y1, Y0, Y4;       \
	VUNPCKHPD  Y1, Y0, Y5;       \
	VUNPCKLPD  Y3, Y2, Y6;       \
	VUNPCKHPD  Y3, Y2, Y7;       \
	VPERM2F128 $0x20, Y6, Y4, Y0; \
	VPERM2F128 $0x20, Y7, Y5, Y1; \
	VPERM2F128 $0x31, Y6, Y4, Y2; \
	VPERM2F128 $0x31, Y7, Y5, Y3

// func transposeAVX2(dst *float64, stride int, x *float64, n, r, c int)
TEXT ·transposeAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ n+24(FP), R9
	MOVQ r+32(FP), CX
	SHLQ $3, R8
	SHLQ $3, R9
	LEAQ (R8)(R8*2), R10
	LEAQ (R9)(R9*2), R11

rows:
	MOVQ c+40(FP), DX
	MOVQ DI, AX
	MOVQ SI, BX

loop:
	FOUR
	VMOVUPD    Y0, (AX)
	VMOVUPD    Y1, (AX)(R8*1)
	VMOVUPD    Y2, (AX)(R8*2)
	VMOVUPD    Y3, (AX)(R10*1)
	ADDQ       $32, BX
	LEAQ       (AX)(R8*4), AX
	SUBQ       $4, DX
	JNE        loop
	LEAQ       (SI)(R9*4), SI
	ADDQ       $32, DI
	SUBQ       $4, CX
	JNE        rows
	VZEROUPPER
	RET

// func takeAVX2(dst *float64, rows int, x *float64, stride, r, c int)
TEXT ·takeAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rows+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ stride+24(FP), R9
	MOVQ r+32(FP), CX
	SHLQ $3, R8
	SHLQ $3, R9
	LEAQ (R8)(R8*2), R10
	LEAQ (R9)(R9*2), R11
	VXORPD Y8, Y8, Y8

rows:
	MOVQ c+40(FP), DX
	MOVQ DI, AX
	MOVQ SI, BX

loop:
	FOUR
	VADDPD     (AX), Y0, Y0
	VADDPD     (AX)(R8*1), Y1, Y1
	VADDPD     (AX)(R8*2), Y2, Y2
	VADDPD     (AX)(R10*1), Y3, Y3
	VMOVUPD    Y0, (AX)
	VMOVUPD    Y1, (AX)(R8*1)
	VMOVUPD    Y2, (AX)(R8*2)
	VMOVUPD    Y3, (AX)(R10*1)
	VMOVUPD    Y8, (BX)
	VMOVUPD    Y8, (BX)(R9*1)
	VMOVUPD    Y8, (BX)(R9*2)
	VMOVUPD    Y8, (BX)(R11*1)
	ADDQ       $32, BX
	LEAQ       (AX)(R8*4), AX
	SUBQ       $4, DX
	JNE        loop
	LEAQ       (SI)(R9*4), SI
	ADDQ       $32, DI
	SUBQ       $4, CX
	JNE        rows
	VZEROUPPER
	RET

// func polesAVX2(w, inverse, x *float64, n int)
TEXT ·polesAVX2(SB), NOSPLIT, $0-32
	MOVQ         w+0(FP), DI
	MOVQ         inverse+8(FP), DX
	MOVQ         x+16(FP), SI
	MOVQ         n+24(FP), CX
	VPCMPEQD     Y5, Y5, Y5
	VPSRLQ       $1, Y5, Y5           // all but the sign
	MOVQ         $0x4010000000000000, AX
	VMOVQ        AX, X6
	VBROADCASTSD X6, Y6               // 4
	MOVQ         $0x3ff0000000000000, AX
	VMOVQ        AX, X7
	VBROADCASTSD X7, Y7               // 1
	MOVQ         $0x3fe0000000000000, AX
	VMOVQ        AX, X8
	VBROADCASTSD X8, Y8               // ½
	XORQ         AX, AX

loop:
	VMOVUPD   (SI)(AX*8), Y0
	VMULPD    Y0, Y0, Y1
	VADDPD    Y6, Y1, Y1
	VSQRTPD   Y1, Y1
	VANDPD    Y5, Y0, Y2
	VADDPD    Y2, Y1, Y1
	VMULPD    Y8, Y1, Y1
	VDIVPD    Y1, Y7, Y2
	VBLENDVPD Y0, Y1, Y2, Y3
	VBLENDVPD Y0, Y2, Y1, Y4
	VMOVUPD   Y3, (DI)(AX*8)
	VMOVUPD   Y4, (DX)(AX*8)
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       loop
	VZEROUPPER
	RET

// func addMulAVX2(dst, x, y *float64, n int)
TEXT ·addMulAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y0
	VMULPD  (DX)(AX*8), Y0, Y0
	VADDPD  (DI)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func gatedMulAVX2(dst, v, x *float64, n int, a float64)
TEXT ·gatedMulAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         v+8(FP), SI
	MOVQ         x+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD a+32(FP), Y0
	VXORPD       Y1, Y1, Y1
	XORQ         AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y2
	VMULPD  (DX)(AX*8), Y0, Y3
	VCMPPD  $4, Y1, Y2, Y4     // v is not 0, or NaN
	VMULPD  Y3, Y2, Y3
	VANDPD  Y4, Y3, Y3
	VMOVUPD Y3, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func selectAVX2(dst, s, a, b *float64, n int)
TEXT ·selectAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ s+8(FP), SI
	MOVQ a+16(FP), DX
	MOVQ b+24(FP), BX
	MOVQ n+32(FP), CX
	XORQ AX, AX

loop:
	VMOVUPD   (SI)(AX*8), Y0
	VPSLLQ    $2, Y0, Y0              // bit 61, set in 1.0 only, becomes the sign
	VMOVUPD   (BX)(AX*8), Y1
	VBLENDVPD Y0, (DX)(AX*8), Y1, Y1
	VMOVUPD   Y1, (DI)(AX*8)
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       loop
	VZEROUPPER
	RET

// PICK makes to the address of the row that the number at of names, and goes to the next number. R13 are the bytes of a row.
#define PICK(of, base, to) \
	MOVLQSX (of), to; \
	IMULQ   R13, to;  \
	ADDQ    base, to; \
	ADDQ    $4, of

// func mulRowsAVX2(dst, x, y *float64, n, rows int, rx, ry *int32)
TEXT ·mulRowsAVX2(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), R8
	MOVQ y+16(FP), R9
	MOVQ n+24(FP), CX
	MOVQ rows+32(FP), R12
	MOVQ rx+40(FP), R10
	MOVQ ry+48(FP), R11
	MOVQ CX, R13
	SHLQ $3, R13

row:
	PICK(R10, R8, SI)
	PICK(R11, R9, DX)
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y0
	VMULPD  (DX)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	ADDQ    R13, DI
	DECQ    R12
	JNZ     row
	VZEROUPPER
	RET

// func gatedMulRowsAVX2(dst, v, x *float64, n, rows int, rv, rx *int32, a float64)
TEXT ·gatedMulRowsAVX2(SB), NOSPLIT, $0-64
	MOVQ         dst+0(FP), DI
	MOVQ         v+8(FP), R8
	MOVQ         x+16(FP), R9
	MOVQ         n+24(FP), CX
	MOVQ         rows+32(FP), R12
	MOVQ         rv+40(FP), R10
	MOVQ         rx+48(FP), R11
	VBROADCASTSD a+56(FP), Y0
	VXORPD       Y1, Y1, Y1
	MOVQ         CX, R13
	SHLQ         $3, R13

row:
	PICK(R10, R8, SI)
	PICK(R11, R9, DX)
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y2
	VMULPD  (DX)(AX*8), Y0, Y3
	VCMPPD  $4, Y1, Y2, Y4     // v is not 0, or NaN
	VMULPD  Y3, Y2, Y3
	VANDPD  Y4, Y3, Y3
	VMOVUPD Y3, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	ADDQ    R13, DI
	DECQ    R12
	JNZ     row
	VZEROUPPER
	RET

// func selectRowsAVX2(dst, s, a, b *float64, n, rows int, rs, ra, rb *int32)
TEXT ·selectRowsAVX2(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ s+8(FP), R8
	MOVQ n+32(FP), CX
	MOVQ rows+40(FP), R12
	MOVQ rs+48(FP), R9
	MOVQ ra+56(FP), R10
	MOVQ rb+64(FP), R11
	MOVQ CX, R13
	SHLQ $3, R13

row:
	MOVQ a+16(FP), AX
	PICK(R10, AX, DX)
	MOVQ b+24(FP), AX
	PICK(R11, AX, BX)
	PICK(R9, R8, SI)
	XORQ AX, AX

loop:
	VMOVUPD   (SI)(AX*8), Y0
	VPSLLQ    $2, Y0, Y0              // bit 61, set in 1.0 only, becomes the sign
	VMOVUPD   (BX)(AX*8), Y1
	VBLENDVPD Y0, (DX)(AX*8), Y1, Y1
	VMOVUPD   Y1, (DI)(AX*8)
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       loop
	ADDQ      R13, DI
	DECQ      R12
	JNZ       row
	VZEROUPPER
	RET

// func lookup1AVX2(dst, s0 *float64, n int, t *[8]float64)
TEXT ·lookup1AVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         s0+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVQ         t+24(FP), R8
	VBROADCASTSD (R8), Y8
	VBROADCASTSD 8(R8), Y9
	XORQ         AX, AX

loop:
	VMOVUPD   (SI)(AX*8), Y0
	VPSLLQ    $2, Y0, Y0
	VBLENDVPD Y0, Y9, Y8, Y1
	VMOVUPD   Y1, (DI)(AX*8)
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       loop
	VZEROUPPER
	RET

// func lookup2AVX2(dst, s0, s1 *float64, n int, t *[8]float64)
TEXT ·lookup2AVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         s0+8(FP), SI
	MOVQ         s1+16(FP), DX
	MOVQ         n+24(FP), CX
	MOVQ         t+32(FP), R8
	VBROADCASTSD (R8), Y8
	VBROADCASTSD 8(R8), Y9
	VBROADCASTSD 16(R8), Y10
	VBROADCASTSD 24(R8), Y11
	XORQ         AX, AX

loop:
	VMOVUPD   (SI)(AX*8), Y0
	VPSLLQ    $2, Y0, Y0
	VMOVUPD   (DX)(AX*8), Y1
	VPSLLQ    $2, Y1, Y1
	VBLENDVPD Y0, Y9, Y8, Y2
	VBLENDVPD Y0, Y11, Y10, Y3
	VBLENDVPD Y1, Y3, Y2, Y2
	VMOVUPD   Y2, (DI)(AX*8)
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       loop
	VZEROUPPER
	RET

// func lookup3AVX2(dst, s0, s1, s2 *float64, n int, t *[8]float64)
TEXT ·lookup3AVX2(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         s0+8(FP), SI
	MOVQ         s1+16(FP), DX
	MOVQ         s2+24(FP), BX
	MOVQ         n+32(FP), CX
	MOVQ         t+40(FP), R8
	VBROADCASTSD (R8), Y8
	VBROADCASTSD 8(R8), Y9
	VBROADCASTSD 16(R8), Y10
	VBROADCASTSD 24(R8), Y11
	VBROADCASTSD 32(R8), Y12
	VBROADCASTSD 40(R8), Y13
	VBROADCASTSD 48(R8), Y14
	VBROADCASTSD 56(R8), Y15
	XORQ         AX, AX

loop:
	VMOVUPD   (SI)(AX*8), Y0
	VPSLLQ    $2, Y0, Y0
	VMOVUPD   (DX)(AX*8), Y1
	VPSLLQ    $2, Y1, Y1
	VMOVUPD   (BX)(AX*8), Y2
	VPSLLQ    $2, Y2, Y2
	VBLENDVPD Y0, Y9, Y8, Y3
	VBLENDVPD Y0, Y11, Y10, Y4
	VBLENDVPD Y0, Y13, Y12, Y5
	VBLENDVPD Y0, Y15, Y14, Y6
	VBLENDVPD Y1, Y4, Y3, Y3
	VBLENDVPD Y1, Y6, Y5, Y5
	VBLENDVPD Y2, Y5, Y3, Y3
	VMOVUPD   Y3, (DI)(AX*8)
	ADDQ      $4, AX
	CMPQ      AX, CX
	JLT       loop
	VZEROUPPER
	RET

// func gateAVX2(dst, s, v *float64, n int, at float64)
TEXT ·gateAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         s+8(FP), SI
	MOVQ         v+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD at+32(FP), Y0
	XORQ         AX, AX

loop:
	VCMPPD  $0, (SI)(AX*8), Y0, Y1 // s = at
	VANDPD  (DX)(AX*8), Y1, Y1
	VMOVUPD Y1, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func addGateAVX2(dst, s, v *float64, n int, at float64)
TEXT ·addGateAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         s+8(FP), SI
	MOVQ         v+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSD at+32(FP), Y0
	XORQ         AX, AX

loop:
	VCMPPD  $0, (SI)(AX*8), Y0, Y1
	VANDPD  (DX)(AX*8), Y1, Y1
	VADDPD  (DI)(AX*8), Y1, Y1
	VMOVUPD Y1, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func stepAVX2(dst, x *float64, n int, a, c float64)
TEXT ·stepAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD a+24(FP), Y0
	VBROADCASTSD c+32(FP), Y1
	MOVQ         $0x3ff0000000000000, R8 // 1.0
	VMOVQ        R8, X2
	VBROADCASTSD X2, Y2
	VXORPD       Y3, Y3, Y3
	XORQ         AX, AX

loop:
	VMULPD  (SI)(AX*8), Y0, Y4
	VADDPD  Y4, Y1, Y4
	VCMPPD  $0x1e, Y3, Y4, Y4 // > 0; NaN is not
	VANDPD  Y2, Y4, Y4
	VMOVUPD Y4, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func sumAVX2(x *float64, n int) float64
TEXT ·sumAVX2(SB), NOSPLIT, $0-24
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	XORQ   AX, AX

loop:
	VADDPD       (SI)(AX*8), Y0, Y0
	VADDPD       32(SI)(AX*8), Y1, Y1
	VADDPD       64(SI)(AX*8), Y2, Y2
	VADDPD       96(SI)(AX*8), Y3, Y3
	ADDQ         $16, AX
	CMPQ         AX, CX
	JLT          loop
	TOTAL(Y0, Y1, Y2, Y3, X0)
	VMOVSD       X0, ret+16(FP)
	VZEROUPPER
	RET

// func sumRowsAVX2(dst, x *float64, rows *int32, n int)
// Rows have sixteen numbers.
TEXT ·sumRowsAVX2(SB), NOSPLIT, $0-32
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   rows+16(FP), R8
	MOVQ   n+24(FP), CX
	VXORPD Y3, Y3, Y3
	XORQ   AX, AX

loop:
	MOVLQSX      (R8)(AX*4), BX
	MOVQ         BX, DX
	SHLQ         $7, DX
	VMOVUPD      (SI)(DX*1), Y0
	VMOVUPD      64(SI)(DX*1), Y2
	VADDPD       32(SI)(DX*1), Y0, Y0
	VADDPD       96(SI)(DX*1), Y2, Y2
	VADDPD       Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD       X1, X0, X0
	VUNPCKHPD    X0, X0, X1
	VADDSD       X1, X0, X0
	VADDSD       X3, X0, X0         // lanes start at +0: −0 alone sums to 0
	VMOVSD       X0, (DI)(BX*8)
	INCQ         AX
	CMPQ         AX, CX
	JLT          loop
	VZEROUPPER
	RET

// func addSparseAVX2(dst, x *float64, n, to int, row, col *int32, w *float64, wstep, entries int)
TEXT ·addSparseAVX2(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), R11
	SHLQ $3, R11         // bytes of a row
	MOVQ row+32(FP), R10
	MOVQ col+40(FP), R8
	MOVQ w+48(FP), R9
	MOVQ entries+64(FP), R12
	XORQ R13, R13        // the run's first entry

run:
	MOVLQSX (R10)(R13*4), R14
	MOVQ    R13, BX           // where the run ends

more:
	INCQ    BX
	CMPQ    BX, R12
	JGE     found
	MOVLQSX (R10)(BX*4), CX
	CMPQ    CX, R14
	JEQ     more

found:
	IMULQ R11, R14
	ADDQ  DI, R14  // the run's row
	XORQ  AX, AX   // column, in bytes

wide:
	MOVQ    to+24(FP), CX
	SHLQ    $3, CX
	SUBQ    AX, CX
	CMPQ    CX, $128
	JLT     narrow
	VMOVUPD (R14)(AX*1), Y0
	VMOVUPD 32(R14)(AX*1), Y1
	VMOVUPD 64(R14)(AX*1), Y2
	VMOVUPD 96(R14)(AX*1), Y3
	MOVQ    R13, R15

wideEntry:
	MOVLQSX      (R8)(R15*4), CX
	IMULQ        R11, CX
	ADDQ         AX, CX
	ADDQ         SI, CX
	MOVQ         R15, DX
	IMULQ        wstep+56(FP), DX
	VBROADCASTSD (R9)(DX*8), Y4
	ADDMUL16(CX)
	INCQ         R15
	CMPQ         R15, BX
	JLT          wideEntry
	VMOVUPD      Y0, (R14)(AX*1)
	VMOVUPD      Y1, 32(R14)(AX*1)
	VMOVUPD      Y2, 64(R14)(AX*1)
	VMOVUPD      Y3, 96(R14)(AX*1)
	ADDQ         $128, AX
	JMP          wide

narrow:
	CMPQ    CX, $32
	JLT     next
	VMOVUPD (R14)(AX*1), Y0
	MOVQ    R13, R15

narrowEntry:
	MOVLQSX      (R8)(R15*4), CX
	IMULQ        R11, CX
	ADDQ         AX, CX
	MOVQ         R15, DX
	IMULQ        wstep+56(FP), DX
	VBROADCASTSD (R9)(DX*8), Y4
	VMULPD       (SI)(CX*1), Y4, Y5
	VADDPD       Y5, Y0, Y0
	INCQ         R15
	CMPQ         R15, BX
	JLT          narrowEntry
	VMOVUPD      Y0, (R14)(AX*1)
	ADDQ         $32, AX
	MOVQ         to+24(FP), CX
	SHLQ         $3, CX
	SUBQ         AX, CX
	JMP          narrow

next:
	MOVQ BX, R13
	CMPQ R13, R12
	JLT  run
	VZEROUPPER
	RET

// func addDotsAVX2(dst, x, y *float64, n int, row, col *int32, entries int)
TEXT ·addDotsAVX2(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ n+24(FP), R11
	SHLQ $3, R11              // bytes of a row
	MOVQ row+32(FP), R8
	MOVQ col+40(FP), R9
	MOVQ entries+48(FP), R10

entry:
	MOVLQSX (R8), SI
	IMULQ   R11, SI
	ADDQ    x+8(FP), SI
	MOVLQSX (R9), DX
	IMULQ   R11, DX
	ADDQ    y+16(FP), DX
	VXORPD  Y4, Y4, Y4
	VXORPD  Y5, Y5, Y5
	VXORPD  Y6, Y6, Y6
	VXORPD  Y7, Y7, Y7
	XORQ    AX, AX

loop:
	VMOVUPD      (SI)(AX*1), Y0
	VMOVUPD      32(SI)(AX*1), Y1
	VMOVUPD      64(SI)(AX*1), Y2
	VMOVUPD      96(SI)(AX*1), Y3
	VMULPD       (DX)(AX*1), Y0, Y0
	VMULPD       32(DX)(AX*1), Y1, Y1
	VMULPD       64(DX)(AX*1), Y2, Y2
	VMULPD       96(DX)(AX*1), Y3, Y3
	VADDPD       Y0, Y4, Y4
	VADDPD       Y1, Y5, Y5
	VADDPD       Y2, Y6, Y6
	VADDPD       Y3, Y7, Y7
	ADDQ         $128, AX
	CMPQ         AX, R11
	JLT          loop
	TOTAL(Y4, Y5, Y6, Y7, X4)
	VADDSD       (DI), X4, X4
	VMOVSD       X4, (DI)
	ADDQ         $4, R8
	ADDQ         $4, R9
	ADDQ         $8, DI
	DECQ         R10
	JNE          entry
	VZEROUPPER
	RET

// func affineRowsAVX2(dst, x *float64, rows, n int, a, c *float64)
TEXT ·affineRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ rows+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ a+32(FP), R8
	MOVQ c+40(FP), R9
	LEAQ (R8)(DX*8), R10

row:
	VBROADCASTSD (R8), Y0
	VBROADCASTSD (R9), Y1
	XORQ         AX, AX

loop:
	VMULPD  (SI)(AX*8), Y0, Y2
	VADDPD  Y2, Y1, Y2
	VMOVUPD Y2, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	LEAQ    (SI)(CX*8), SI
	LEAQ    (DI)(CX*8), DI
	ADDQ    $8, R8
	ADDQ    $8, R9
	CMPQ    R8, R10
	JLT     row
	VZEROUPPER
	RET

// func stepRowsAVX2(dst, x *float64, n int, p *StepRow, rows int)
TEXT ·stepRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVQ         p+24(FP), R8
	MOVQ         rows+32(FP), DX
	MOVQ         $0x3ff0000000000000, R9 // 1.0
	VMOVQ        R9, X2
	VBROADCASTSD X2, Y2
	VXORPD       Y3, Y3, Y3

row:
	VBROADCASTSD (R8), Y0
	VBROADCASTSD 8(R8), Y1
	MOVQ         16(R8), R10
	IMULQ        CX, R10
	LEAQ         (SI)(R10*8), R10
	XORQ         AX, AX

loop:
	VMULPD  (R10)(AX*8), Y0, Y4
	VADDPD  Y4, Y1, Y4
	VCMPPD  $0x1e, Y3, Y4, Y4
	VANDPD  Y2, Y4, Y4
	VMOVUPD Y4, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	LEAQ    (DI)(CX*8), DI
	ADDQ    $24, R8
	DECQ    DX
	JNE     row
	VZEROUPPER
	RET

// func addSumDotRowsAVX2(sum, dot, x, y *float64, rows, n int)
TEXT ·addSumDotRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ sum+0(FP), DI
	MOVQ dot+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), DX
	MOVQ rows+32(FP), R9
	MOVQ n+40(FP), CX

row:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	XORQ   AX, AX

loop:
	VMOVUPD      (SI)(AX*8), Y8
	VMOVUPD      32(SI)(AX*8), Y9
	VMOVUPD      64(SI)(AX*8), Y10
	VMOVUPD      96(SI)(AX*8), Y11
	VADDPD       Y8, Y0, Y0
	VADDPD       Y9, Y1, Y1
	VADDPD       Y10, Y2, Y2
	VADDPD       Y11, Y3, Y3
	VMULPD       (DX)(AX*8), Y8, Y8
	VMULPD       32(DX)(AX*8), Y9, Y9
	VMULPD       64(DX)(AX*8), Y10, Y10
	VMULPD       96(DX)(AX*8), Y11, Y11
	VADDPD       Y8, Y4, Y4
	VADDPD       Y9, Y5, Y5
	VADDPD       Y10, Y6, Y6
	VADDPD       Y11, Y7, Y7
	ADDQ         $16, AX
	CMPQ         AX, CX
	JLT          loop
	TOTAL(Y0, Y1, Y2, Y3, X0)
	VADDSD       (DI), X0, X0
	VMOVSD       X0, (DI)
	TOTAL(Y4, Y5, Y6, Y7, X4)
	VADDSD       (R8), X4, X4
	VMOVSD       X4, (R8)
	LEAQ         (SI)(CX*8), SI
	LEAQ         (DX)(CX*8), DX
	ADDQ         $8, DI
	ADDQ         $8, R8
	DECQ         R9
	JNE          row
	VZEROUPPER
	RET

// func sparseAVX2(dst, a, b *float64, split, n, to, rows int, c *float64, from, ref *int32, w *float64)
TEXT ·sparseAVX2(SB), NOSPLIT, $0-88
	MOVQ  dst+0(FP), DI
	MOVQ  a+8(FP), SI
	MOVQ  b+16(FP), DX
	MOVQ  split+24(FP), R12
	MOVQ  n+32(FP), R11
	SHLQ  $3, R11        // bytes of a row
	MOVQ  R12, CX
	IMULQ R11, CX
	SUBQ  CX, DX         // where row 0 of b's numbering would be
	MOVQ  ref+72(FP), R8
	MOVQ  w+80(FP), R9
	XORQ  R14, R14       // row

row:
	MOVQ         from+64(FP), CX
	MOVLQSX      (CX)(R14*4), R10
	MOVLQSX      4(CX)(R14*4), BX
	MOVQ         c+56(FP), CX
	VBROADCASTSD (CX)(R14*8), Y6
	XORQ         AX, AX           // column, in bytes

wide:
	MOVQ    to+40(FP), CX
	SHLQ    $3, CX
	SUBQ    AX, CX
	CMPQ    CX, $128
	JLT     narrow
	VMOVAPD Y6, Y0
	VMOVAPD Y6, Y1
	VMOVAPD Y6, Y2
	VMOVAPD Y6, Y3
	MOVQ    R10, R13
	CMPQ    R13, BX
	JGE     wideDone

wideEntry:
	MOVLQSX      (R8)(R13*4), CX
	MOVQ         SI, R15
	CMPQ         CX, R12
	CMOVQGE      DX, R15
	IMULQ        R11, CX
	ADDQ         AX, CX
	ADDQ         R15, CX
	VBROADCASTSD (R9)(R13*8), Y4
	ADDMUL16(CX)
	INCQ         R13
	CMPQ         R13, BX
	JLT          wideEntry

wideDone:
	VMOVUPD Y0, (DI)(AX*1)
	VMOVUPD Y1, 32(DI)(AX*1)
	VMOVUPD Y2, 64(DI)(AX*1)
	VMOVUPD Y3, 96(DI)(AX*1)
	ADDQ    $128, AX
	JMP     wide

narrow:
	CMPQ    CX, $32
	JLT     next
	VMOVAPD Y6, Y0
	MOVQ    R10, R13
	CMPQ    R13, BX
	JGE     narrowDone

narrowEntry:
	MOVLQSX      (R8)(R13*4), CX
	MOVQ         SI, R15
	CMPQ         CX, R12
	CMOVQGE      DX, R15
	IMULQ        R11, CX
	ADDQ         AX, CX
	ADDQ         R15, CX
	VBROADCASTSD (R9)(R13*8), Y4
	VMULPD       (CX), Y4, Y5
	VADDPD       Y5, Y0, Y0
	INCQ         R13
	CMPQ         R13, BX
	JLT          narrowEntry

narrowDone:
	VMOVUPD Y0, (DI)(AX*1)
	ADDQ    $32, AX
	MOVQ    to+40(FP), CX
	SHLQ    $3, CX
	SUBQ    AX, CX
	JMP     narrow

next:
	ADDQ R11, DI
	INCQ R14
	CMPQ R14, rows+48(FP)
	JLT  row
	VZEROUPPER
	RET
