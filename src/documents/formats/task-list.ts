// tasks.yaml and the like: a list in the shape of a prd.json, written in YAML.
import { mapTexts } from '../../model/text.ts'
import type { Raw } from '../../prd/migrate.ts'
import { draftOf } from '../../prd/parse.ts'
import type { Opened } from '../opened.ts'
import { place, planAt } from '../places.ts'
import { type Format, type Reading, reading } from '../types.ts'
import { readStories } from './drafted.ts'

export const taskList: Format = {
  name: 'task list',
  found: planAt('(?:tasks|prd)\\.ya?ml'),
  reads: (document) => document.isYaml && hasTasks(document.fields),
  read,
}

function hasTasks({ tasks, userStories }: Raw): boolean {
  return Array.isArray(tasks) || Array.isArray(userStories)
}

function read(document: Opened): Reading {
  const { path, fields, data } = document
  const { draft, mistakes } = draftOf(fields, path)
  if (draft === null) return reading({ mistakes })
  const name = Array.isArray(fields.userStories) ? 'userStories' : 'tasks'
  const lineOf = (index: number) => data.data?.lineOf([name, index]) ?? 1
  const storyPath = (index: number, key?: string) => place(path, lineOf(index), key)
  const where = { path, format: taskList.name, rank: 'planned' } as const
  // A block of text ends with a line break.
  const list = draft.list.map((task) => mapTexts(task, (text) => text.trim()))
  return readStories({ ...draft, list, storyPath }, mistakes, where, (_, index) => lineOf(index))
}
