// Settings of an installation, by the names of inputs.
import { readSettings } from '../../../../src/settings/read-settings.ts'

export const settings = (inputs: Record<string, string>, surface: 'action' | 'cli' = 'action') =>
  readSettings({ inputs, env: {}, surface }).settings
