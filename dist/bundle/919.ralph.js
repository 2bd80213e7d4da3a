const _=919,F=[919],C={5919:((f,a,s)=>{s.r(a),s.d(a,{demoAgent:()=>p});var r=s(1455),i=s(6760),c=s(6423);async function p(e){for await(const t of process.stdin);if(e.RALPH_MODE==="verify")return process.stdout.write(`Every criterion has a test, and every test passes.
${(0,c.MX)()}
<ralph>VERIFIED</ralph>
`),d(900,60);const{says:o,edits:n,learning:u}=(0,c.LI)(e.RALPH_STORY_ID??"",Number(e.RALPH_ATTEMPT??"1"));for(const t of o)process.stdout.write(`${t}
`);for(const t of n)await(0,r.mkdir)((0,i.dirname)(t.path),{recursive:!0}),"append"in t?await(0,r.appendFile)(t.path,t.append):await(0,r.writeFile)(t.path,t.text),process.stdout.write(`Edit ${t.path}
`);return u!==null&&process.stdout.write(`<ralph>LEARNING:${u}</ralph>
`),process.stdout.write(`<ralph>DONE</ralph>
`),d(1200,340)}function d(e,o){const n=(e*3+o*15)/1e6;return process.stdout.write(`${JSON.stringify({usage:{inputTokens:e,outputTokens:o,costUsd:n}})}
`),0}}),6423:((f,a,s)=>{s.d(a,{LI:()=>o,MX:()=>d,RI:()=>r,yl:()=>e});const r="units",i=`/** Converts metres to feet. */
export function metresToFeet(metres) {
  return metres / 0.3048
}
`,c=`import assert from 'node:assert/strict'
import test from 'node:test'
import { metresToFeet } from '../src/convert.mjs'

test('a foot is 0.3048 metres', () => {
  assert.equal(metresToFeet(0.3048), 1)
})
`,p=[{id:"US-001",title:"Convert kilograms to pounds",description:"As a cook, I want pounds, so that I can read old recipes.",acceptanceCriteria:["kilogramsToPounds(0.45359237) is 1","a test shows it"],priority:1},{id:"US-002",title:"Convert Celsius to Fahrenheit",description:"As a traveller, I want Fahrenheit, so that I know what to wear.",acceptanceCriteria:["celsiusToFahrenheit(100) is 212","celsiusToFahrenheit(0) is 32","a test shows both"],priority:2},{id:"US-003",title:"One function for all units",description:"As a developer, I want convert(value, from, to), so that I need not know the names.",acceptanceCriteria:['convert(100, "C", "F") is 212',"an unknown pair throws a RangeError","a test shows both"],priority:3,dependsOn:["US-001","US-002"]}];function d(){return p.flatMap(({id:h,acceptanceCriteria:l})=>l.map((g,w)=>`<ralph>EVIDENCE:${h}#${w+1} test/convert.test.mjs ${g}</ralph>`)).join(`
`)}const e={"package.json":`${JSON.stringify({name:"units",version:"1.0.0",type:"module",private:!0},null,2)}
`,"README.md":`# units
A small converter.
`,"src/convert.mjs":i,"test/convert.test.mjs":c,[`.ralph/2026-01-31-${r}/prd.json`]:`${JSON.stringify({$schema:"https://raw.githubusercontent.com/ralph/action/v1/schemas/prd.schema.json",schemaVersion:2,project:"Units",description:"Converts units.",userStories:p},null,2)}
`};function o(m,h){switch(m){case"US-001":return{says:["Reading src/convert.mjs","Adding kilogramsToPounds and its test"],edits:[{path:"src/convert.mjs",append:n},{path:"test/pounds.test.mjs",text:u}],learning:"Converters live in src/convert.mjs, a test file for each unit in test/"};case"US-002":{const l=h>1;return{says:[l?"The gate says 100 C must be 212 F: the factor was upside down":"Adding celsiusToFahrenheit and its test"],edits:l?[{path:"src/convert.mjs",text:`${i}${n}${t("9) / 5")}`}]:[{path:"src/convert.mjs",append:t("5) / 9")},{path:"test/fahrenheit.test.mjs",text:v}],learning:null}}default:return{says:["Adding convert(value, from, to) on top of the converters"],edits:[{path:"src/convert.mjs",append:E},{path:"test/all.test.mjs",text:T}],learning:null}}}const n=`
/** Converts kilograms to pounds. */
export function kilogramsToPounds(kilograms) {
  return kilograms / 0.45359237
}
`,u=`import assert from 'node:assert/strict'
import test from 'node:test'
import { kilogramsToPounds } from '../src/convert.mjs'

test('a pound is 0.45359237 kilograms', () => {
  assert.equal(kilogramsToPounds(0.45359237), 1)
})
`;function t(m){return`
/** Converts degrees Celsius to degrees Fahrenheit. */
export function celsiusToFahrenheit(celsius) {
  return (celsius * ${m} + 32
}
`}const v=`import assert from 'node:assert/strict'
import test from 'node:test'
import { celsiusToFahrenheit } from '../src/convert.mjs'

test('water boils at 212 F', () => {
  assert.equal(celsiusToFahrenheit(100), 212)
})

test('water freezes at 32 F', () => {
  assert.equal(celsiusToFahrenheit(0), 32)
})
`,E=`
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
`,T=`import assert from 'node:assert/strict'
import test from 'node:test'
import { convert } from '../src/convert.mjs'

test('converts a known pair', () => {
  assert.equal(convert(100, 'C', 'F'), 212)
})

test('refuses an unknown pair', () => {
  assert.throws(() => convert(1, 'kg', 'F'), RangeError)
})
`})};export{_ as id,F as ids,C as modules};
