set encoding utf8
{{#palette}}
{{#others}}
{{name}} = '{{light}}'
{{/others}}
{{#curves}}
set linetype {{linetype}} linecolor rgb '{{light}}'
{{/curves}}
{{/palette}}
{{#axes}}
set {{axis}}label {{{label}}} noenhanced textcolor rgb ink
{{{scale}}}
{{/axes}}
set border 3 linecolor rgb muted
set tics nomirror out scale 0.6 textcolor rgb muted
set mxtics 1
set mytics 1
set grid back linetype 1 linecolor rgb grid linewidth 1
{{#key_columns}}
set key above left horizontal maxcols {{key_columns}} Left reverse samplen 1.6 width 0 textcolor rgb ink
{{/key_columns}}
{{^key_columns}}
unset key
{{/key_columns}}
{{#linear}}
set offsets graph 0, graph 0, graph 0.04, graph 0.04
{{/linear}}
{{#equal_axes}}
set size ratio -1
{{/equal_axes}}
{{#range}}
set xrange [{{{.}}}]
set yrange [{{{.}}}]
{{/range}}
set terminal svg enhanced size 480,{{height}} dynamic font 'sans-serif,14' background rgb '#ffffff'
set output '{{{name}}}.svg'
line = 'lines linewidth 1.8'
dashed = 'lines linewidth 1.6 dashtype (6,4)'
path = 'lines linewidth 1.2'
points = 'points pointtype 7 pointsize 0.7'
discs = 'points pointtype 7 pointsize 0.4'
dots = 'points pointtype 7 pointsize 0.2'
starts = 'points pointtype 6 pointsize 0.8'
focus = 'points pointtype 2 pointsize 0.8'
ring = 'points pointtype 6 pointsize 1.6'
band = 'filledcurves fillstyle transparent solid 0.15 noborder'
plot {{#drawn}}{{{separator}}}{{#continued}}keyentry with dots linecolor rgb '#ffffff' title {{{title}}} noenhanced{{/continued}}{{#sample}}keyentry with points pointtype 7 pointsize 0.8 linecolor {{color}} title {{{title}}} noenhanced{{/sample}}{{#curve}}'{{{name}}}.dat' index {{index}} {{#band}}using 1:2:3 {{/band}}with {{#wide}}lines linewidth 1.2 + 2 * {{wide}}{{/wide}}{{^wide}}@{{style}}{{/wide}}{{#dash}} dashtype ({{dash}},{{gap}}){{/dash}} linecolor {{#marks}}rgb ink{{/marks}}{{^marks}}{{color}}{{/marks}} {{#in_key}}title {{{title}}} noenhanced{{/in_key}}{{^in_key}}notitle{{/in_key}}{{/curve}}{{/drawn}}

set terminal pngcairo enhanced size 960,{{png_height}} fontscale 1.8 linewidth 1.6 background rgb '#ffffff'
set output '{{{name}}}.png'
replot
