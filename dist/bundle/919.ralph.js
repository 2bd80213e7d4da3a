const g=919,w=[919],E={5919:((h,i,s)=>{s.r(i),s.d(i,{demoAgent:()=>u});var o=s(1455),c=s(6760),p=s(6423);async function u(e){for await(const t of process.stdin);if(e.RALPH_MODE==="verify")return process.stdout.write(`Every criterion has a test, and every test passes.
<ralph>VERIFIED</ralph>
`),d(900,60);const{says:r,edits:n,learning:a}=(0,p.LI)(e.RALPH_STORY_ID??"",Number(e.RALPH_ATTEMPT??"1"));for(const t of r)process.stdout.write(`${t}
`);for(const t of n)await(0,o.mkdir)((0,c.dirname)(t.path),{recursive:!0}),"append"in t?await(0,o.appendFile)(t.path,t.append):await(0,o.writeFile)(t.path,t.text),process.stdout.write(`Edit ${t.path}
`);return a!==null&&process.stdout.write(`<ralph>LEARNING:${a}</ralph>
`),process.stdout.write(`<ralph>DONE</ralph>
`),d(1200,340)}function d(e,r){const n=(e*3+r*15)/1e6;return process.stdout.write(`${JSON.stringify({usage:{inputTokens:e,outputTokens:r,costUsd:n}})}
`),0}}),6423:((h,i,s)=>{s.d(i,{LI:()=>e,RI:()=>o,yl:()=>d});const o="units",c=`/** Converts metres to feet. */
export function metresToFeet(metres) {
  return metres / 0.3048
}
`,p=`import assert from 'node:assert/strict'
import test from 'node:test'
import { metresToFeet } from '../src/convert.mjs'

test('a foot is 0.3048 metres', () => {
  assert.equal(metresToFeet(0.3048), 1)
})
`,u=[{id:"US-001",title:"Convert kilograms to pounds",description:"As a cook, I want pounds, so that I can read old recipes.",acceptanceCriteria:["kilogramsToPounds(0.45359237) is 1","a test shows it"],priority:1},{id:"US-002",title:"Convert Celsius to Fahrenheit",description:"As a traveller, I want Fahrenheit, so that I know what to wear.",acceptanceCriteria:["celsiusToFahrenheit(100) is 212","celsiusToFahrenheit(0) is 32","a test shows both"],priority:2},{id:"US-003",title:"One function for all units",description:"As a developer, I want convert(value, from, to), so that I need not know the names.",acceptanceCriteria:['convert(100, "C", "F") is 212',"an unknown pair throws a RangeError","a test shows both"],priority:3,dependsOn:["US-001","US-002"]}],d={"package.json":`${JSON.stringify({name:"units",version:"1.0.0",type:"module",private:!0},null,2)}
`,"README.md":`# units
A small converter.
`,"src/convert.mjs":c,"test/convert.test.mjs":p,[`.ralph/2026-01-31-${o}/prd.json`]:`${JSON.stringify({$schema:"https://raw.githubusercontent.com/ralph/action/v1/schemas/prd.schema.json",schemaVersion:2,project:"Units",description:"Converts units.",userStories:u},null,2)}
`};function e(m,T){switch(m){case"US-001":return{says:["Reading src/convert.mjs","Adding kilogramsToPounds and its test"],edits:[{path:"src/convert.mjs",append:r},{path:"test/pounds.test.mjs",text:n}],learning:"Converters live in src/convert.mjs, a test file for each unit in test/"};case"US-002":{const l=T>1;return{says:[l?"The gate says 100 C must be 212 F: the factor was upside down":"Adding celsiusToFahrenheit and its test"],edits:l?[{path:"src/convert.mjs",text:`${c}${r}${a("9) / 5")}`}]:[{path:"src/convert.mjs",append:a("5) / 9")},{path:"test/fahrenheit.test.mjs",text:t}],learning:null}}default:return{says:["Adding convert(value, from, to) on top of the converters"],edits:[{path:"src/convert.mjs",append:f},{path:"test/all.test.mjs",text:v}],learning:null}}}const r=`
/** Converts kilograms to pounds. */
export function kilogramsToPounds(kilograms) {
  return kilograms / 0.45359237
}
`,n=`import assert from 'node:assert/strict'
import test from 'node:test'
import { kilogramsToPounds } from '../src/convert.mjs'

test('a pound is 0.45359237 kilograms', () => {
  assert.equal(kilogramsToPounds(0.45359237), 1)
})
`;function a(m){return`
/** Converts degrees Celsius to degrees Fahrenheit. */
export function celsiusToFahrenheit(celsius) {
  return (celsius * ${m} + 32
}
`}const t=`import assert from 'node:assert/strict'
import test from 'node:test'
import { celsiusToFahrenheit } from '../src/convert.mjs'

test('water boils at 212 F', () => {
  assert.equal(celsiusToFahrenheit(100), 212)
})

test('water freezes at 32 F', () => {
  assert.equal(celsiusToFahrenheit(0), 32)
})
`,f=`
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
`,v=`import assert from 'node:assert/strict'
import test from 'node:test'
import { convert } from '../src/convert.mjs'

test('converts a known pair', () => {
  assert.equal(convert(100, 'C', 'F'), 212)
})

test('refuses an unknown pair', () => {
  assert.throws(() => convert(1, 'kg', 'F'), RangeError)
})
`})};export{g as id,w as ids,E as modules};
