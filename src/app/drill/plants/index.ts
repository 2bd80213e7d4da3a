// The table of plants, in the order in which they are tried. A new plant is a row in one of these files.
import type { Plant } from '../plant.ts'
import { broken } from './broken.ts'
import { gates } from './gate-plants.ts'
import { others } from './others.ts'
import { places } from './places.ts'
import { tests } from './tests.ts'

export const PLANTS: readonly Plant[] = [...broken, ...tests, ...gates, ...places, ...others]
