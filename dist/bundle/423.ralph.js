const j=423,O=[423],k={6423:((R,m,i)=>{i.r(m),i.d(m,{FEATURE:()=>u,PROJECT:()=>T,demoAgent:()=>w});var l=i(1455),p=i(6760);const u="units",n=`/** Converts metres to feet. */
export function metresToFeet(metres) {
  return metres / 0.3048
}
`,f=`import assert from 'node:assert/strict'
import test from 'node:test'
import { metresToFeet } from '../src/convert.mjs'

test('a foot is 0.3048 metres', () => {
  assert.equal(metresToFeet(0.3048), 1)
})
`,d=[{id:"US-001",title:"Convert kilograms to pounds",description:"As a cook, I want pounds, so that I can read old recipes.",acceptanceCriteria:["kilogramsToPounds(0.45359237) is 1","a test shows it"],priority:1},{id:"US-002",title:"Convert Celsius to Fahrenheit",description:"As a traveller, I want Fahrenheit, so that I know what to wear.",acceptanceCriteria:["celsiusToFahrenheit(100) is 212","celsiusToFahrenheit(0) is 32","a test shows both"],priority:2},{id:"US-003",title:"One function for all units",description:"As a developer, I want convert(value, from, to), so that I need not know the names.",acceptanceCriteria:['convert(100, "C", "F") is 212',"an unknown pair throws a RangeError","a test shows both"],priority:3,dependsOn:["US-001","US-002"]}];function v(){return d.flatMap(({id:t,acceptanceCriteria:r})=>r.map((o,e)=>`<ralph>EVIDENCE:${t}#${e+1} test/convert.test.mjs ${o}</ralph>`)).join(`
`)}const T={"package.json":`${JSON.stringify({name:"units",version:"1.0.0",type:"module",private:!0},null,2)}
`,"README.md":`# units
A small converter.
`,"src/convert.mjs":n,"test/convert.test.mjs":f,[`.ralph/2026-01-31-${u}/prd.json`]:`${JSON.stringify({$schema:"https://raw.githubusercontent.com/ralph/action/v1/schemas/prd.schema.json",schemaVersion:2,project:"Units",description:"Converts units.",userStories:d},null,2)}
`},a=`
/** Converts kilograms to pounds. */
export function kilogramsToPounds(kilograms) {
  return kilograms / 0.45359237
}
`,E=`import assert from 'node:assert/strict'
import test from 'node:test'
import { kilogramsToPounds } from '../src/convert.mjs'

test('a pound is 0.45359237 kilograms', () => {
  assert.equal(kilogramsToPounds(0.45359237), 1)
})
`;function c(s){return`
/** Converts degrees Celsius to degrees Fahrenheit. */
export function celsiusToFahrenheit(celsius) {
  return (celsius * ${s} + 32
}
`}const g={"US-001":[{says:["Reading src/convert.mjs","Adding kilogramsToPounds and its test"],files:{"src/convert.mjs":n+a,"test/pounds.test.mjs":E},learning:"Converters live in src/convert.mjs, a test file for each unit in test/"}],"US-002":[{says:["Adding celsiusToFahrenheit and its test"],files:{"src/convert.mjs":n+a+c("5) / 9"),"test/fahrenheit.test.mjs":`import assert from 'node:assert/strict'
import test from 'node:test'
import { celsiusToFahrenheit } from '../src/convert.mjs'

test('water boils at 212 F', () => {
  assert.equal(celsiusToFahrenheit(100), 212)
})

test('water freezes at 32 F', () => {
  assert.equal(celsiusToFahrenheit(0), 32)
})
`}},{says:["The gate says 100 C must be 212 F: the factor was upside down"],files:{"src/convert.mjs":n+a+c("9) / 5")}}],"US-003":[{says:["Adding convert(value, from, to) on top of the converters"],files:{"src/convert.mjs":n+a+c("9) / 5")+`
const CONVERTERS = new Map([
  ['m ft', metresToFeet],
  ['kg lb', kilogramsToPounds],
  ['C F', celsiusToFahrenheit],
])

/** Converts a value between two units. Throws a RangeError for a pair that is not known. */
export function convert(value, from, to) {
  const converter = CONVERTERS.get(\`\${from} \${to}\`)
  if (converter === undefined) throw new RangeError(\`no way from \${from} to \${to}\`)
  return converter(value)
}
`,"test/all.test.mjs":`import assert from 'node:assert/strict'
import test from 'node:test'
import { convert } from '../src/convert.mjs'

test('converts a known pair', () => {
  assert.equal(convert(100, 'C', 'F'), 212)
})

test('refuses an unknown pair', () => {
  assert.throws(() => convert(1, 'kg', 'F'), RangeError)
})
`}}]};async function w(s){for await(const e of process.stdin);const t=e=>process.stdout.write(`${e}
`);if(s.RALPH_MODE==="verify")return t(`Every criterion has a test, and every test passes.
${v()}
<ralph>VERIFIED</ralph>`),h(900,60);const r=g[s.RALPH_STORY_ID??""]??[],o=r[Number(s.RALPH_ATTEMPT??"1")-1]??r.at(-1);for(const e of o?.says??[])t(e);for(const[e,F]of Object.entries(o?.files??{}))await(0,l.mkdir)((0,p.dirname)(e),{recursive:!0}),await(0,l.writeFile)(e,F),t(`Edit ${e}`);return o?.learning!==void 0&&t(`<ralph>LEARNING:${o.learning}</ralph>`),t("<ralph>DONE</ralph>"),h(1200,340)}function h(s,t){const r=(s*3+t*15)/1e6;return process.stdout.write(`${JSON.stringify({usage:{inputTokens:s,outputTokens:t,costUsd:r}})}
`),0}})};export{j as id,O as ids,k as modules};
