"""The style sheet of the page: for a phone and for a desk, dark and light, and for print."""

from .colours import CARD, PAGE, TOKENS

LIGHT = ";".join(["--page:%s;--card:%s;--line:#dfe2e7" % (PAGE[0], CARD[0])]
                 + ["--%s:%s" % (name, colour) for colour, (name, _) in TOKENS.items()])
DARK = ";".join(["--page:%s;--card:%s;--line:#333943" % (PAGE[1], CARD[1])] + ["--%s:%s" % t for t in TOKENS.values()])

# Figures stand in six columns, three in a row, two of the last row if it would have two, and four in two rows where one
# would be left alone, so that every row is full; in a row of two columns the last odd one is wide.
CSS = """
:root{color-scheme:light dark;%(light)s}
@media(prefers-color-scheme:dark){:root{%(dark)s}
figure image{filter:invert(1) hue-rotate(180deg)}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,"Segoe UI",Roboto,sans-serif;color:var(--ink);background:var(--page);margin:0}
main{max-width:1360px;margin:0 auto;padding:16px}
h1{margin:4px 0;font-size:26px;overflow-wrap:anywhere} h2{font-size:20px;margin:28px 0 10px}
h3{font-size:16px;margin:0 0 6px} p{margin:0 0 10px} a{color:var(--blue)}
nav{display:flex;flex-wrap:wrap;gap:4px 14px;margin:8px 0 0}
input[name=units]{accent-color:var(--blue);margin:0 4px 0 0}
input[name=units]+label{margin-right:14px;white-space:nowrap}
@media(max-width:600px){.units{display:block} input[name=units]+label::after{content:"\\a";white-space:pre}}
#show-nbody:checked~section .in-physical,#show-physical:checked~section .in-nbody{display:none}
.grey,figcaption,footer{color:var(--grey)} .n{white-space:nowrap} sup,sub{line-height:0}
.card,figure{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px;margin:0;min-width:0}
.grid{display:grid;grid-template-columns:1fr;gap:14px;margin:0 0 14px}
figure svg{width:100%%;height:auto;display:block;max-width:620px;margin:0 auto}
figcaption{font-size:13.5px;margin-top:6px}
@media(min-width:760px) and (max-width:1139px){.grid{grid-template-columns:1fr 1fr}
.grid>figure:last-child:nth-child(odd){grid-column:1/-1}}
@media(min-width:1140px){.grid{grid-template-columns:repeat(6,1fr)}
.grid>figure{grid-column:span 2}
.grid>figure:nth-child(3n+2):last-child,.grid>figure:nth-child(3n+1):nth-last-child(2){grid-column:span 3}
.grid>figure:nth-child(3n+1):nth-last-child(4),.grid>figure:nth-child(3n+1):nth-last-child(4)~figure{grid-column:span 3}
.grid>figure:only-child{grid-column:1/-1}}
#scene{margin:0 0 14px}
.scene{position:relative} .scene canvas{width:100%%;display:block;cursor:grab;touch-action:pan-y;border-radius:6px}
.scene canvas:active{cursor:grabbing}
.scene button{position:absolute;right:6px;bottom:6px;font:inherit;font-size:13.5px;color:var(--ink);
background:var(--card);border:1px solid var(--grey);border-radius:6px;padding:3px 12px;cursor:pointer}
.scene.live .still{display:none} figure:not(:has(.live)) .keys{display:none}
:focus-visible{outline:2px solid var(--blue);outline-offset:2px}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%%,280px),1fr));gap:0 32px}
.facts div{display:flex;gap:12px;justify-content:space-between;border-bottom:1px solid var(--line);padding:3px 0}
.facts div>span:first-child{color:var(--grey)} .facts div>span:last-child{text-align:right;overflow-wrap:anywhere}
.card{margin:0 0 14px} .cards{display:flex;flex-wrap:wrap;gap:14px;margin:0 0 14px}
.cards>*{flex:1 1 auto;min-width:0;max-width:100%%} .cards .card{margin:0;height:100%%} .cards table{width:100%%}
.good{color:var(--green)} .fair{color:var(--orange)} .poor{color:var(--red)} .unknown{color:var(--grey)}
.scroll{overflow-x:auto;margin:0 0 6px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
td,th{padding:3px 14px 3px 0;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}
details{margin:14px 0} summary{cursor:pointer;font-weight:600} footer{margin:24px 0 8px;font-size:13px}
@media print{:root{color-scheme:light;%(light)s;--page:#fff}
@page{margin:14mm}
figure image{filter:none}
body{font-size:10pt} main{max-width:none;padding:0 1px} nav,input[name=units],input[name=units]+label,.units,.keys,
.scene canvas,.scene button{display:none} .scene.live .still{display:block} #scene svg{max-width:110mm}
.cards{display:block} .grid{grid-template-columns:1fr 1fr;gap:4mm}
.grid>figure,.grid>figure:only-child{grid-column:auto!important}
figure,.card{break-inside:avoid;border-color:#bbb;border-radius:0} .card:has(table),details{break-inside:auto}
h2{break-after:avoid} figcaption{font-size:8.5pt} table{font-size:8pt} .scroll{overflow:visible} a{color:inherit}}
""" % {"light": LIGHT, "dark": DARK}
