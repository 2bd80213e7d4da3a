const j=715,R=[715],C={6423:((_,d,t)=>{t.d(d,{LI:()=>n,RI:()=>l,yl:()=>v});const l="units",o=`/** Converts metres to feet. */
export function metresToFeet(metres) {
  return metres / 0.3048
}
`,u=`import assert from 'node:assert/strict'
import test from 'node:test'
import { metresToFeet } from '../src/convert.mjs'

test('a foot is 0.3048 metres', () => {
  assert.equal(metresToFeet(0.3048), 1)
})
`,r=[{id:"US-001",title:"Convert kilograms to pounds",description:"As a cook, I want pounds, so that I can read old recipes.",acceptanceCriteria:["kilogramsToPounds(0.45359237) is 1","a test shows it"],priority:1},{id:"US-002",title:"Convert Celsius to Fahrenheit",description:"As a traveller, I want Fahrenheit, so that I know what to wear.",acceptanceCriteria:["celsiusToFahrenheit(100) is 212","celsiusToFahrenheit(0) is 32","a test shows both"],priority:2},{id:"US-003",title:"One function for all units",description:"As a developer, I want convert(value, from, to), so that I need not know the names.",acceptanceCriteria:['convert(100, "C", "F") is 212',"an unknown pair throws a RangeError","a test shows both"],priority:3,dependsOn:["US-001","US-002"]}],v={"package.json":`${JSON.stringify({name:"units",version:"1.0.0",type:"module",private:!0},null,2)}
`,"README.md":`# units
A small converter.
`,"src/convert.mjs":o,"test/convert.test.mjs":u,[`.ralph/2026-01-31-${l}/prd.json`]:`${JSON.stringify({$schema:"https://raw.githubusercontent.com/ralph/action/v1/schemas/prd.schema.json",schemaVersion:2,project:"Units",description:"Converts units.",userStories:r},null,2)}
`};function n(a,T){switch(a){case"US-001":return{says:["Reading src/convert.mjs","Adding kilogramsToPounds and its test"],edits:[{path:"src/convert.mjs",append:p},{path:"test/pounds.test.mjs",text:f}],learning:"Converters live in src/convert.mjs, a test file for each unit in test/"};case"US-002":{const h=T>1;return{says:[h?"The gate says 100 C must be 212 F: the factor was upside down":"Adding celsiusToFahrenheit and its test"],edits:h?[{path:"src/convert.mjs",text:`${o}${p}${c("9) / 5")}`}]:[{path:"src/convert.mjs",append:c("5) / 9")},{path:"test/fahrenheit.test.mjs",text:s}],learning:null}}default:return{says:["Adding convert(value, from, to) on top of the converters"],edits:[{path:"src/convert.mjs",append:e},{path:"test/all.test.mjs",text:m}],learning:null}}}const p=`
/** Converts kilograms to pounds. */
export function kilogramsToPounds(kilograms) {
  return kilograms / 0.45359237
}
`,f=`import assert from 'node:assert/strict'
import test from 'node:test'
import { kilogramsToPounds } from '../src/convert.mjs'

test('a pound is 0.45359237 kilograms', () => {
  assert.equal(kilogramsToPounds(0.45359237), 1)
})
`;function c(a){return`
/** Converts degrees Celsius to degrees Fahrenheit. */
export function celsiusToFahrenheit(celsius) {
  return (celsius * ${a} + 32
}
`}const s=`import assert from 'node:assert/strict'
import test from 'node:test'
import { celsiusToFahrenheit } from '../src/convert.mjs'

test('water boils at 212 F', () => {
  assert.equal(celsiusToFahrenheit(100), 212)
})

test('water freezes at 32 F', () => {
  assert.equal(celsiusToFahrenheit(0), 32)
})
`,e=`
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
`,m=`import assert from 'node:assert/strict'
import test from 'node:test'
import { convert } from '../src/convert.mjs'

test('converts a known pair', () => {
  assert.equal(convert(100, 'C', 'F'), 212)
})

test('refuses an unknown pair', () => {
  assert.throws(() => convert(1, 'kg', 'F'), RangeError)
})
`}),6715:((_,d,t)=>{t.r(d),t.d(d,{demo:()=>f});var l=t(1421),o=t(1455),u=t(8161),r=t(6760),v=t(356),n=t(6423),p=t(623);async function f(s){const e=await(0,o.mkdtemp)((0,r.join)((0,u.tmpdir)(),"ralph-demo-"));for(const[i,g]of Object.entries(n.yl))await(0,o.mkdir)((0,r.dirname)((0,r.join)(e,i)),{recursive:!0}),await(0,o.writeFile)((0,r.join)(e,i),g);const m=(...i)=>(0,v.promisify)(l.execFile)("git",i,{cwd:e,env:{...s.env,...c}});await m("init","-q","-b","main"),await m("add","-A"),await m("commit","-q","-m","feat: a converter that knows one unit");const a=s.json?process.stderr:process.stdout;a.write(`A sample project was made in ${e}
Its stories: .ralph/2026-01-31-${n.RI}/prd.json. Its gates: node --check, node --test.

`);const T=`"${process.execPath}" "${process.argv[1]??""}" demo-agent`,h={...s.flags,agent:"custom",agentCommand:T,gate:["syntax=node --check src/convert.mjs","test=node --test"],maxAttempts:"3"},w={...s.env,...c},E=await(0,p.run)({...s,flags:h,feature:n.RI,directory:e,env:w});return a.write(["","Look at it:",`  cd ${e}`,...[["git log --stat","one commit a story, each with green gates"],[`cat .ralph/2026-01-31-${n.RI}/progress.txt`,"what happened, the rejected attempt too"],["less .git/ralph/transcripts/*","what the agent said"]].map(([i="",g])=>`  ${i.padEnd(48)}${g}`),""].join(`
`)),{...E,more:{...E.more,directory:e}}}const c={GIT_AUTHOR_NAME:"Ralph demo",GIT_AUTHOR_EMAIL:"demo@localhost",GIT_COMMITTER_NAME:"Ralph demo",GIT_COMMITTER_EMAIL:"demo@localhost"}})};export{j as id,R as ids,C as modules};
