import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandOutcome } from '../command-line.ts'

/** One command of a page, with what it is for. */
export interface PageCommand {
  readonly line: string
  /** The comment behind it. */
  readonly comment: string
}

/** The commands of the block of `deploy/README.md` with that text, in order. Throws unless exactly one block has it. */
export function blockOf(root: string, text: string): readonly PageCommand[] {
  const page = readFileSync(join(root, 'deploy/README.md'), 'utf8')
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)]
    .map(([, body = '']) => body)
    .filter((body) => body.includes(text))
  const [block] = blocks
  if (block === undefined || blocks.length > 1)
    throw new Error(`${blocks.length} blocks of deploy/README.md contain "${text}", not one`)
  return block
    .replace(/(\\|&&)\n\s*/g, (_, end: string) => (end === '\\' ? '' : '&& '))
    .split('\n')
    .map((line) => {
      const [command = '', comment = ''] = line.split(/(?:^|\s{2,})# /)
      return { line: command.trim(), comment }
    })
    .filter(({ line }) => line !== '')
}

/** A terminal in which somebody types the commands of a page. */
export interface Terminal {
  /** Types one command. `replaced` = what the page leaves to the reader, by its placeholder. Throws for a placeholder that the command lacks. */
  type(command: PageCommand, replaced?: Readonly<Record<string, string>>): Promise<CommandOutcome>
}

/** Opens a terminal in a folder. `cd` and `alias` hold for what is typed later. */
export function openTerminal(folder: string, env: NodeJS.ProcessEnv): Terminal {
  const before: string[] = ['set -o pipefail', 'shopt -s expand_aliases']
  return {
    type: async ({ line }, replaced = {}) => {
      let text = line
      for (const [placeholder, value] of Object.entries(replaced)) {
        if (!text.includes(placeholder)) throw new Error(`"${line}" has no ${placeholder}`)
        text = text.replaceAll(placeholder, value)
      }
      const [, move, rest] = /^(cd \S+)(?: && (.*))?$/.exec(text) ?? []
      if (move !== undefined) before.push(move)
      if (text.startsWith('alias ')) before.push(text)
      const command = move === undefined ? text : (rest ?? 'true')
      return await new Promise((resolve) => {
        const script = [...before, command].join('\n')
        execFile('bash', ['-c', script], { cwd: folder, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
          const status = typeof error?.code === 'number' ? error.code : error === null ? 0 : 1
          resolve({ status, stdout, stderr })
        })
      })
    },
  }
}
