import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'
import { METRICS } from '#shared/ports/metric-table.ts'
import type { Check } from '../checks.ts'
import type { CommandLine } from '../command-line.ts'

/** What a release must name in `docs/upgrading.md` when it is gone or has another name. */
const listed = (): string => readFileSync(join(ROOT, 'docs/upgrading.md'), 'utf8')

const isListed = (text: string, name: string): boolean => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(text)

function checkListed(what: string, before: ReadonlySet<string>, now: ReadonlySet<string>): Check {
  const text = listed()
  const gone = [...before].filter((name) => !now.has(name))
  return {
    promise: `every ${what} that is gone is listed in docs/upgrading.md (${gone.length} are gone)`,
    checked: before.size,
    faults: gone.filter((name) => !isListed(text, name)).map((name) => `${name} is gone and not listed`),
  }
}

/** Metrics that the processes of the earlier release showed. */
export function checkMetrics(shown: ReadonlySet<string>): Check {
  return checkListed('metric', shown, new Set(Object.keys(METRICS).map((name) => `paymesh_${name}`)))
}

/** Alerts and settings of the earlier release. */
export function checkFiles(folder: string): readonly Check[] {
  const names = (root: string, file: string, pattern: RegExp): ReadonlySet<string> =>
    new Set([...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, name]) => name ?? ''))
  const compared = (what: string, file: string, pattern: RegExp) =>
    checkListed(what, names(folder, file, pattern), names(ROOT, file, pattern))
  return [
    compared('alert', 'deploy/prometheus/alerts.yml', /^\s*- alert: (\w+)$/gm),
    compared('setting', '.env.example', /^#? ?([A-Z][A-Z0-9_]+)=/gm),
  ]
}

/** Every command of the earlier release works under its words; one with another name answers with a hint to it. */
export async function checkCommands(before: CommandLine, now: CommandLine): Promise<readonly Check[]> {
  const former = await commandsOf(before)
  const current = await commandsOf(now)
  const known = new Map(current.map((command) => [command.words.join(' '), command]))
  const faults: string[] = []
  const optionFaults: string[] = []
  const text = listed()
  let renamed = 0
  for (const command of former) {
    const words = command.words.join(' ')
    const same = known.get(words)
    if (same !== undefined) optionFaults.push(...goneOptions(command, same, text))
    else {
      renamed += 1
      const { status, stderr } = await now.run(...command.words, '--help')
      const hint = /is now "paymesh ([a-z -]+)"/.exec(stderr)
      if (status !== 0 || hint === null)
        faults.push(`paymesh ${words} ended with ${status} and said ${stderr.trim() || 'nothing'}`)
      const named = [...known].find(([name]) => hint?.[1] !== undefined && `${name} `.startsWith(`${hint[1]} `))
      if (hint !== null && named === undefined) faults.push(`paymesh ${words} names "${hint[1]}", which is no command`)
    }
  }
  return [
    {
      promise: `every command of before answers, a renamed one with a hint (${renamed} are renamed)`,
      checked: former.length,
      faults,
    },
    {
      promise: 'every option of before is there or listed in docs/upgrading.md',
      checked: former.reduce((sum, { options }) => sum + options.length, 0),
      faults: optionFaults,
    },
  ]
}

const goneOptions = (before: Command, now: Command, text: string): readonly string[] =>
  before.options
    .filter((name) => !now.options.includes(name) && !isListed(text, name))
    .map((name) => `paymesh ${before.words.join(' ')} has no ${name} any more`)

/** A command as people type it, with the options that its help names. */
interface Command {
  readonly words: readonly string[]
  readonly options: readonly string[]
}

/** Every command of a release, read from its help. */
async function commandsOf({ run }: CommandLine): Promise<readonly Command[]> {
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
