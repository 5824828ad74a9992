import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from '#scripts/cli/main.ts'
import { ROUTES } from '#services/api/routes.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { ASSET_IDS, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'
import { deepTest } from '#test/support/depth.ts'

const README = readFileSync('README.md', 'utf8')
const DOCUMENTS = ['deploy/RUNBOOK.md', 'docs/guide/operator.md', 'docs/guide/merchant.md']
const { scripts, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
}
const HELP_MS = 300_000

const spansOf = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)

/** Why a line of the README is none that the command line takes; null when it is one. */
function fault(line: string): string | null {
  const words = line.replace(/[[\]]/g, '').split(' ')
  let command: Command = createProgram()
  while (command.commands.length > 0) {
    const next: Command | undefined = command.commands.find((child) => child.name() === words[0])
    if (next === undefined) return `${line}: there is no command ${words[0]}`
    command = next
    words.shift()
  }
  const options = words.filter((word) => word.startsWith('--'))
  const unknown = options.filter((word) => !command.options.some(({ long }) => long === word))
  if (unknown.length > 0) return `${line}: there is no option ${unknown.join(' ')}`
  const missing = command.options.filter(({ mandatory, long }) => mandatory && !options.includes(long ?? ''))
  if (missing.length > 0 && !line.includes('…')) return `${line}: does not name ${missing[0]?.long}`
  const operands = words.filter((word, at) => /^[A-Z_]+$/.test(word) && words[at - 1]?.startsWith('--') !== true)
  return operands.length === command.registeredArguments.length
    ? null
    : `${line}: ${operands.length} operands, the command takes ${command.registeredArguments.length}`
}

describe('the commands that documents name', () => {
  // Those of the operate section, and what operators type in an incident or when they set an installation up.
  const texts = [README.slice(README.indexOf('## Operate it')), ...DOCUMENTS.map((path) => readFileSync(path, 'utf8'))]
  const heads = createProgram().commands.map((command) => command.name())
  const lines = texts.flatMap(spansOf).flatMap((span) => {
    const line = span.replace(/^paymesh /, '')
    const isCommand =
      span.startsWith('paymesh ') || (texts[0]?.includes(`\`${span}\``) && heads.includes(line.split(' ')[0] ?? ''))
    // A command without operands and options is only mentioned.
    return isCommand && /[A-Z]|--/.test(line) ? [line] : []
  })

  // Guarantee: whoever types a command of these documents meets one with these operands and options.
  it('exist, with their options and operands', () => {
    expect(lines.length).toBeGreaterThan(15)
    expect(lines.flatMap((line) => fault(line) ?? [])).toEqual([])
  })

  it.each([
    ['audit check', 'there is no command check'],
    ['audit verify --recorded NUMBER:HASH', 'there is no option --recorded'],
    ['payment count PAYMENT_ID', 'does not name --reason'],
    ['workspace list ID', '1 operands, the command takes 0'],
    ['invoice show', '0 operands, the command takes 1'],
  ])('would not name %s', (line, reason) => expect(fault(line)).toContain(reason))
})

describe('the examples for a shell', () => {
  const shell = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block).join('\n')
  const runs = [...shell.matchAll(/npm (?:run )?([\w:]+)([^#&\n`]*)/g)].filter(([, name]) => name !== 'install')

  it('run scripts that exist', () => {
    expect(runs.length).toBeGreaterThan(8)
    expect(runs.flatMap(([, name = '']) => (scripts[name] === undefined ? [name] : []))).toEqual([])
  })

  deepTest('give options that those scripts explain', { timeout: HELP_MS }, () => {
    // The story of the demo and the tests of everything are `--help` away; `cli` is read above.
    const wanted = runs.filter(([, name = '', rest = '']) => name !== 'cli' && rest.includes('--'))
    const texts = new Map<string, string>()
    for (const [line, name = '', rest = ''] of wanted) {
      const [, ...args] = (scripts[name] ?? '').split(' ')
      const help = texts.get(name) ?? execFileSync(process.execPath, [...args, '--help'], { encoding: 'utf8' })
      texts.set(name, help)
      const options = rest.split(' ').filter((word) => word.startsWith('--') && word !== '--' && word !== '--help')
      for (const option of options) expect(help, line).toContain(option)
    }
    expect(texts.size).toBeGreaterThan(3)
  })
})

it('the table of operations is what the API serves, each under its scope', () => {
  const table = README.split('\n| operation | scope |')[1]?.split('\n\n')[0] ?? ''
  const described = table.split('\n').flatMap((row) => {
    const spans = spansOf(row)
    return spans.slice(0, -1).map((operation) => `${operation} ${spans.at(-1)}`)
  })
  const served = ROUTES.map(({ method, path, scope }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')} ${scope}`)
  expect(described.toSorted()).toEqual(served.toSorted())
})

it('figures are those of the code', () => {
  const count = (figure: RegExp) => [...README.matchAll(figure)].map(([, found = '']) => found)
  expect(count(/(\d+) assets on/g)).toEqual([String(ASSET_IDS.length)])
  expect(count(/assets on (\d+) networks/g)).toEqual([String(NETWORK_IDS.length)])
  expect(README).toMatch(/five EVM\s+networks/)
  expect(NETWORK_IDS.filter((id) => CHAINS[id].family === 'evm')).toHaveLength(5)
  expect(count(/(\d+) (?:REST )?operations/g)).toEqual([String(ROUTES.length), String(ROUTES.length)])
  expect(README).toContain('nine attempts over 44 hours')
  expect(WEBHOOK_RETRY_DELAYS_MS).toHaveLength(8)
  expect(Math.floor(WEBHOOK_RETRY_DELAYS_MS.reduce((sum, ms) => sum + ms, 0) / 3_600_000)).toBe(44)
  expect(README).toContain('a checkout in three languages')
  const locales = readdirSync('services/checkout/web/src/locales').filter((name) => /^[a-z]{2}\.ts$/.test(name))
  expect(locales).toHaveLength(3)
  expect(README).toContain(`Node ${engines.node.replace('>=', '')} or newer`)
})

it('figures of the tests are those that run', () => {
  const run = readFileSync('scripts/test.mjs', 'utf8')
  expect(README).toContain('200 simulated seeds')
  expect(run).toContain("'--seeds', '200'")
  const deep = execFileSync(process.execPath, ['scripts/test-deep.mjs', '--help'], { encoding: 'utf8' })
  const claimed = /test:deep -- --help +# (.+)/.exec(README)?.[1] ?? ''
  expect(claimed).not.toBe('')
  const figures = claimed.split(', ').flatMap((part) => /^([\d,]+\d) .*?(\w+)$/.exec(part)?.slice(1, 3) ?? [])
  expect(figures.length).toBe(8)
  for (const [at, figure] of figures.entries()) expect(deep, figures[at - 1]).toContain(figure)
})
