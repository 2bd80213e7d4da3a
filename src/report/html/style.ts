// The one style sheet of all pages. A page's policy forbids any other style, and names this one by its hash.
import { Markup } from './markup.ts'

const CSS = `:root{color-scheme:light dark;--page:#fff;--card:#f6f8fa;--ink:#1f2328;--soft:#59636e;--line:#d1d9e0;--link:#0969da;--good:#1a7f37;--bad:#cf222e;--wait:#9a6700;--run:#0969da;--agent:#218bff;--gates:#8250df;--rest:#d1d9e0}
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--card:#161b22;--ink:#e6edf3;--soft:#9198a1;--line:#3d444d;--link:#4493f8;--good:#3fb950;--bad:#f85149;--wait:#d29922;--run:#4493f8;--agent:#388bfd;--gates:#a371f7;--rest:#3d444d}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:1100px;padding:16px 20px 48px;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif;overflow-wrap:anywhere}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
h1{font-size:24px;line-height:1.3;margin:2px 0 12px}h2{font-size:18px;margin:36px 0 10px;padding-bottom:6px;border-bottom:1px solid var(--line)}h3{font-size:15px;margin:22px 0 8px}h4{font-size:13px;margin:16px 0 4px;color:var(--soft);font-weight:600}
code,pre{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
code{background:var(--card);border:1px solid var(--line);border-radius:5px;padding:1px 5px;display:inline-block;max-width:100%;overflow-x:auto;white-space:nowrap;vertical-align:bottom;line-height:1.4}
.icon{width:1em;height:1em;vertical-align:-.13em;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}.icon.good{color:var(--good)}.icon.bad{color:var(--bad)}.icon.wait{color:var(--wait)}.icon.run{color:var(--run)}.icon.soft{color:var(--soft)}
a code{color:inherit}code.type{user-select:all}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:10px 12px;margin:6px 0;overflow:auto;max-height:560px;white-space:pre-wrap}
small,.aside,.legend{color:var(--soft);font-size:13px}
p{margin:6px 0}ul,ol{margin:4px 0;padding-left:24px}
.eyebrow{color:var(--soft);margin:0}
.top{border:1px solid var(--line);border-top:6px solid var(--soft);border-radius:8px;padding:16px 20px;background:var(--card)}
.top.good{border-top-color:var(--good)}.top.bad{border-top-color:var(--bad)}.top.wait{border-top-color:var(--wait)}.top.run{border-top-color:var(--run)}
.next{background:var(--page);border-left:4px solid var(--wait);padding:10px 14px;margin:14px 0 4px;border-radius:0 6px 6px 0;font-size:16px}
.good>.next{border-left-color:var(--good)}.bad>.next{border-left-color:var(--bad)}.run>.next{border-left-color:var(--run)}
.findings{background:var(--page);border-left:4px solid var(--wait);padding:8px 14px;margin:10px 0;border-radius:0 6px 6px 0}.findings ul{margin:4px 0 0}
.progress{display:block;border-radius:5px;margin:8px 0 4px}
.needs{list-style:none;padding:0;margin:10px 0 0}.needs li{padding:6px 0;border-top:1px solid var(--line)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:16px 0 0}
dl div{border:1px solid var(--line);border-radius:6px;padding:8px 12px}dt{color:var(--soft);font-size:12.5px}dd{margin:0;font-weight:600}dd small{font-weight:400;display:block}
nav{margin:14px 0 0;font-size:14px}nav a{margin-right:14px;white-space:nowrap}
details>summary{cursor:pointer}details details{margin:6px 0}
.story{border:1px solid var(--line);border-left:4px solid var(--rest);border-radius:6px;margin:8px 0;padding:0 14px}
.story>summary{padding:9px 0;list-style:none}.story>summary::-webkit-details-marker{display:none}.story>summary::before{content:"▸";color:var(--soft);display:inline-block;width:16px}.story[open]>summary::before{content:"▾"}.story[open]{padding-bottom:14px}.story>summary small{display:block;padding-left:42px}
.story .sign{display:inline-block;width:26px}.story .figures{color:var(--soft);font-size:13px;float:right;padding-left:12px}
.story.s-passed{border-left-color:var(--good)}.story.s-blocked{border-left-color:var(--bad)}.story.s-rejected{border-left-color:var(--wait)}.story.s-working{border-left-color:var(--run)}
:target{outline:2px solid var(--link);outline-offset:2px}
.why{color:var(--bad);font-weight:600}.prose{white-space:pre-line}.shown{color:var(--soft);font-size:13px;display:block}
.lines{list-style:none;padding:0}
.wide{overflow-x:auto}
table{border-collapse:collapse;min-width:min(100%,480px);font-size:13.5px;margin:6px 0}th{font-weight:600;color:var(--soft);border-bottom:1px solid var(--line);white-space:nowrap}th,td{padding:5px 18px 5px 0;text-align:left;vertical-align:top;overflow-wrap:break-word}td small{overflow-wrap:anywhere}td{border-bottom:1px solid var(--line)}.figure{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.pages{display:flex;flex-wrap:wrap;gap:14px}figure{margin:0;width:100%}figure div{display:inline-block;vertical-align:top;width:48%;max-width:480px;min-width:min(100%,260px);margin:4px 8px 4px 0}figure .aside{display:block}figure img{width:100%;border:1px solid var(--line);border-radius:4px}
svg text{font:12px system-ui,-apple-system,"Segoe UI","Noto Sans",sans-serif;fill:var(--soft)}svg .strong{font-weight:600;fill:var(--ink)}
.timeline{overflow:visible;padding-right:0}.timeline .mark{stroke:var(--line);stroke-dasharray:2 3}svg .tick{font-size:11px}.agent{fill:var(--agent);background:var(--agent)}.gates{fill:var(--gates);background:var(--gates)}.rest{fill:var(--rest);background:var(--rest)}
svg .sign{font-size:12px;font-weight:700;paint-order:stroke;stroke:var(--page);stroke-width:3px}svg .good .sign{fill:var(--good)}svg .bad .sign{fill:var(--bad)}b.good{color:var(--good)}b.bad{color:var(--bad)}
.picture{overflow:hidden;padding-right:16px}td a{white-space:nowrap}.legend i{display:inline-block;width:12px;height:9px;margin:0 3px 0 10px}.legend b{margin-left:10px}
.graph>path{fill:none;stroke:var(--soft);stroke-opacity:.6}.graph .icon{color:var(--ink)}.graph .s-passed .icon,.graph .s-blocked .icon,.graph .s-rejected .icon,.graph .s-working .icon{color:#fff}.graph rect{fill:var(--card);stroke:var(--line)}.graph text{fill:var(--ink)}
.s-passed rect,rect.s-passed{fill:var(--good)}.s-blocked rect,rect.s-blocked{fill:var(--bad)}.s-rejected rect,rect.s-rejected{fill:var(--wait)}.s-working rect,rect.s-working{fill:var(--run)}rect.s-open,rect.s-waiting,rect.s-outside{fill:var(--rest)}rect.s-skipped{fill:var(--soft)}
.graph .s-passed text,.graph .s-blocked text,.graph .s-rejected text,.graph .s-working text{fill:#fff}
footer{margin-top:40px;padding-top:10px;border-top:1px solid var(--line);color:var(--soft);font-size:13px}
@media(max-width:640px){body{padding:10px 12px 32px}.top{padding:12px 14px}h1{font-size:20px}.story .figures{float:none;display:block;padding-left:42px}.next{font-size:15px}table{font-size:12px}th,td{padding-right:6px}th,.figure{white-space:normal}th{vertical-align:bottom}}
@media print{:root{--page:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--good:#1a7f37;--bad:#cf222e;--wait:#9a6700;--run:#0969da;--rest:#ddd}body{max-width:none;padding:0;font-size:11px}nav{display:none}.top,.story>summary,tr,figure,svg{break-inside:avoid}h2{break-after:avoid}pre{max-height:none;font-size:9px}svg,.legend i{print-color-adjust:exact;-webkit-print-color-adjust:exact}details::details-content{content-visibility:visible;display:block}}`

/** The base64 of the style's SHA-256; a test compares them. */
export const STYLE_HASH = 'sha256-sF9PJReFrVOjxRwgOggg1ZTZeBfFVwGahg4jItISqs8='
export const STYLE = new Markup([CSS], [])
