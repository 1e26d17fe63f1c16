{{#palette}}
{{#others}}
{{name}} = '{{light}}'
{{/others}}
{{#curves}}
set linetype {{linetype}} linecolor rgb '{{light}}'
{{/curves}}
{{/palette}}
set terminal gif animate delay 6 loop 0 size 480,480 font 'sans,11' background rgb '#ffffff'
set output '{{{name}}}.gif'
set encoding utf8
set xyplane relative 0
set view equal xyz
set border 4095 linecolor rgb '#c8ccd4'
unset tics
unset key
set lmargin 0
set rmargin 0
set tmargin 0
set bmargin 0
{{#frames}}
{{#axes}}
set {{axis}}range [{{low:9}}:{{high:9}}]
{{/axes}}
set label 1 {{{time}}} at screen 0.04, 0.95 front noenhanced textcolor rgb ink
set label 2 {{{width}}} at screen 0.04, 0.05 front noenhanced textcolor rgb muted
set view 68, {{angle}}, 1.25
splot '{{{name}}}.dat' index {{index}} using 1:2:3:4 with points pointtype 7 pointsize {{size}} linecolor variable
{{/frames}}
