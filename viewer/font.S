// The font of the viewer as bytes of the program; KVTAPE_FONT is its file, given by CMake.
    .section .rodata
    .global kvtape_font_begin
    .global kvtape_font_end
    .balign 16
kvtape_font_begin:
    .incbin KVTAPE_FONT
kvtape_font_end:
    .byte 0
    .section .note.GNU-stack,"",@progbits
