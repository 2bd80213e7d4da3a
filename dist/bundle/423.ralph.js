const C=423,S=[423],O={6423:((A,c,n)=>{n.r(c),n.d(c,{FEATURE:()=>l,PROJECT:()=>E,demoAgent:()=>F});var m=n(1455),p=n(6760);const l="units",i=`/** Converts metres to feet. */
export function metresToFeet(metres) {
  return metres / 0.3048
}
`,f=`import assert from 'node:assert/strict'
import test from 'node:test'
import { metresToFeet } from '../src/convert.mjs'

test('a foot is 0.3048 metres', () => {
  assert.equal(metresToFeet(0.3048), 1)
})
`,u=[{id:"US-001",title:"Convert kilograms to pounds",description:"As a cook, I want pounds, so that I can read old recipes.",acceptanceCriteria:["kilogramsToPounds(0.45359237) is 1","a test shows it"],priority:1},{id:"US-002",title:"Convert Celsius to Fahrenheit",description:"As a traveller, I want Fahrenheit, so that I know what to wear.",acceptanceCriteria:["celsiusToFahrenheit(100) is 212","celsiusToFahrenheit(0) is 32","a test shows both"],priority:2}];function T(){return u.flatMap(({id:t,acceptanceCriteria:r})=>r.map((o,s)=>`<ralph>EVIDENCE:${t}#${s+1} test/convert.test.mjs ${o}</ralph>`)).join(`
`)}const E={"package.json":`${JSON.stringify({name:"units",version:"1.0.0",type:"module",private:!0},null,2)}
`,"README.md":`# units
A small converter.
`,"src/convert.mjs":i,"test/convert.test.mjs":f,[`.ralph/2026-01-31-${l}/prd.json`]:`${JSON.stringify({$schema:"https://raw.githubusercontent.com/ralph/action/v1/schemas/prd.schema.json",schemaVersion:2,project:"Units",description:"Converts units.",userStories:u},null,2)}
`},a=`
/** Converts kilograms to pounds. */
export function kilogramsToPounds(kilograms) {
  return kilograms / 0.45359237
}
`,v=`import assert from 'node:assert/strict'
import test from 'node:test'
import { kilogramsToPounds } from '../src/convert.mjs'

test('a pound is 0.45359237 kilograms', () => {
  assert.equal(kilogramsToPounds(0.45359237), 1)
})
`;function d(e){return`
/** Converts degrees Celsius to degrees Fahrenheit. */
export function celsiusToFahrenheit(celsius) {
  return (celsius * ${e} + 32
}
`}const g={"US-001":[{says:["Reading src/convert.mjs","Adding kilogramsToPounds and its test"],files:{"src/convert.mjs":i+a,"test/pounds.test.mjs":v},learning:"Converters live in src/convert.mjs, a test file for each unit in test/"}],"US-002":[{says:["Adding celsiusToFahrenheit and its test"],files:{"src/convert.mjs":i+a+d("5) / 9"),"test/fahrenheit.test.mjs":`import assert from 'node:assert/strict'
import test from 'node:test'
import { celsiusToFahrenheit } from '../src/convert.mjs'

test('water boils at 212 F', () => {
  assert.equal(celsiusToFahrenheit(100), 212)
})

test('water freezes at 32 F', () => {
  assert.equal(celsiusToFahrenheit(0), 32)
})
`}},{says:["The gate says 100 C must be 212 F: the factor was upside down"],files:{"src/convert.mjs":i+a+d("9) / 5")}}]};async function F(e){for await(const s of process.stdin);const t=s=>process.stdout.write(`${s}
`);if(e.RALPH_MODE==="verify")return t(`Every criterion has a test, and every test passes.
${T()}
<ralph>VERIFIED</ralph>`),h(900,60);const r=g[e.RALPH_STORY_ID??""]??[],o=r[Number(e.RALPH_ATTEMPT??"1")-1]??r.at(-1);for(const s of o?.says??[])t(s);for(const[s,j]of Object.entries(o?.files??{}))await(0,m.mkdir)((0,p.dirname)(s),{recursive:!0}),await(0,m.writeFile)(s,j),t(`Edit ${s}`);return o?.learning!==void 0&&t(`<ralph>LEARNING:${o.learning}</ralph>`),t("<ralph>DONE</ralph>"),h(1200,340)}function h(e,t){const r=(e*3+t*15)/1e6;return process.stdout.write(`${JSON.stringify({usage:{inputTokens:e,outputTokens:t,costUsd:r}})}
`),0}})};export{C as id,S as ids,O as modules};
