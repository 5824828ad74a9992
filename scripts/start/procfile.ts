import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'

/** One process type: its name, and the command line that runs it from the checkout's folder. */
export interface ProcfileLine {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

/** Everything in one process, in the place of every line of a Procfile. */
export const SERVE_LINE: ProcfileLine = {
  name: 'serve',
  command: process.execPath,
  args: ['--max-semi-space-size=4', '--max-old-space-size=1024', 'scripts/paymesh.mjs', 'serve'],
}

/** The lines of a checkout's Procfile in order. Commands are plain words; `node` becomes the current Node executable. */
export function readProcfile(folder: string = ROOT): readonly ProcfileLine[] {
  const lines = readFileSync(join(folder, 'Procfile'), 'utf8').split('\n')
  return lines.flatMap((line) => {
    const match = /^([a-z][a-z-]*):\s*(\S.*)$/.exec(line.trim())
    if (match === null) return []
    const [, name = '', text = ''] = match
    const [command = '', ...args] = text.split(/\s+/)
    return [{ name, command: command === 'node' ? process.execPath : command, args }]
  })
}
