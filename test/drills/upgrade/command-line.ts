import { execFile } from 'node:child_process'
import { join } from 'node:path'

/** How one command line ended. */
export interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** The command line of a release, on the installation of a data folder. */
export interface CommandLine {
  run(...args: readonly string[]): Promise<Ended>
  /** What it prints with `--json`. Throws with its output when the status is not 0. */
  json<T>(...args: readonly string[]): Promise<T>
}

/** The `paymesh` of a checkout. */
export function commandLineOf(folder: string, dataDir: string): CommandLine {
  const run = (...args: readonly string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const script = join(folder, 'scripts/paymesh.mjs')
      const all = [script, ...args, ...(args.includes('--help') ? [] : ['--data', dataDir])]
      execFile(process.execPath, all, { cwd: folder, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
        resolve({ status: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr })
      })
    })
  return {
    run,
    json: async <T>(...args: readonly string[]) => {
      const { status, stdout, stderr } = await run(...args, '--json')
      if (status !== 0) throw new Error(`paymesh ${args.join(' ')} ended with ${status}: ${stderr}${stdout}`)
      return JSON.parse(stdout) as T
    },
  }
}

/** A command as people type it, with the options that its help names. */
export interface Command {
  readonly words: readonly string[]
  readonly options: readonly string[]
}

/** Every command of a release, read from its help. */
export async function commandsOf({ run }: CommandLine): Promise<readonly Command[]> {
  const help = async (words: readonly string[]): Promise<string> => (await run(...words, '--help')).stdout
  const found = async (words: readonly string[]): Promise<readonly Command[]> => {
    const text = await help(words)
    const below = subcommandsIn(text)
    if (below.length === 0) return [{ words, options: optionsIn(text) }]
    const inner: Command[] = []
    for (const word of below) inner.push(...(await found([...words, word])))
    return inner
  }
  return await found([])
}

const subcommandsIn = (help: string): readonly string[] => {
  const start = help.indexOf('\nCommands:')
  if (start < 0) return []
  return [...help.slice(start).matchAll(/^ {2}([a-z][a-z-]*)/gm)].flatMap(([, word]) =>
    word === undefined || word === 'help' ? [] : [word],
  )
}

const optionsIn = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].flatMap(([, name]) => (name === undefined ? [] : [name]))
