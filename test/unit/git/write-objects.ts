// A process of its own that writes objects as Ralph does, so that its effects can be counted (test/faults/preload.mjs).
import { ObjectWriter } from '../../../src/git/objects.ts'
import { Permissions } from '../../../src/git/sharing.ts'
import { replaceFile } from '../../../src/system/files.ts'

const [objects = '', file = ''] = process.argv.slice(2)
const writer = new ObjectWriter(objects, 40, new Permissions(undefined))
for (let one = 0; one < 3; one += 1) writer.add('blob', Buffer.from(`object ${one}`))
await writer.flush()
await replaceFile(file, 'text')
