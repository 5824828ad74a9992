import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'

/** One process type: its name, and the command line that runs it from the checkout's folder. */
export interface ProcfileLine {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

/** The lines of the Procfile in their order. Commands are plain words; `node` becomes the Node that runs us. */
export function readProcfile(): readonly ProcfileLine[] {
  const lines = readFileSync(join(ROOT, 'Procfile'), 'utf8').split('\n')
  return lines.flatMap((line) => {
    const match = /^([a-z][a-z-]*):\s*(\S.*)$/.exec(line.trim())
    if (match === null) return []
    const [, name = '', text = ''] = match
    const [command = '', ...args] = text.split(/\s+/)
    return [{ name, command: command === 'node' ? process.execPath : command, args }]
  })
}
