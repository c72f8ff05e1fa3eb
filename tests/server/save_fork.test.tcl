# What save.test.tcl checks, where a child saves.
set save_in_slices no
source [file join [file dirname [file normalize [info script]]] save.test.tcl]
