import { describe, expect, it } from 'vitest'
import { useCapturedOutput } from '#test/support/captured-output.ts'
import { runCli } from '../main.ts'
import { plainText } from './add-operations.ts'
import { fieldsOf, inputOf, isScoped } from './input-flags.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './table.ts'

const printed = useCapturedOutput()

const ENTRIES = Object.entries(OPERATIONS)
const proceduresOf = ({ procedure, dryRun, ownerless, with: other, shows, also }: Operation) =>
  [procedure, dryRun, ownerless, other?.[1], shows, also].flatMap((one) => one ?? [])

describe.each(ENTRIES)('%s', (_words, operation) => {
  // Guarantee: a field that a procedure demands can be given on the command line, and no alias names a field that is gone.
  it('offers every field that its procedure demands, and aliases of fields that exist', () => {
    const { procedure, operands = [], flags = {}, fixed = {}, about } = operation
    const { shape } = inputOf(procedure)
    const filled = ['opId', ...(isScoped(procedure) ? ['workspaceId', 'mode'] : [])]
    const offered = [...filled, ...Object.keys(fixed), ...fieldsOf(procedure, flags).map(({ path }) => path[0] ?? '')]
    const demanded = Object.keys(shape).filter((name) => !shape[name]?.safeParse(undefined).success)
    expect(offered).toEqual(expect.arrayContaining(demanded))
    const paths = proceduresOf(operation).flatMap((one) => fieldsOf(one).map(({ path }) => path.join('.')))
    const named = [...Object.keys(flags), ...operands, ...(about === undefined ? [] : [about[1]])]
    expect(named.filter((path) => !paths.some((one) => one === path || one.startsWith(`${path}.`)))).toEqual([])
  })

  it('gives every flag one field of a procedure', () => {
    const fields = fieldsOf(operation.procedure, operation.flags)
    const words = fields.map(({ name }) => name)
    expect(new Set(words).size).toBe(words.length)
  })
})

const UUID = '7f8f7b7e-0d57-4c3a-9a5e-3f6f2f7b1c11'
// Guarantee: a slip is refused by the words of the command line, before anything is opened.
it.each([
  ['--limit', ['delivery', 'list', '--limit', '1000']],
  ['--limit', ['delivery', 'list', '--limit', 'many']],
  ['--status', ['delivery', 'list', '--status', 'lost']],
  ['--workspace', ['wallet', 'list', '--workspace', 'nobody']],
  ['paymentId', ['payment', 'attach', 'nobody', '--invoice', UUID]],
  ['--value', ['payment', 'attach', UUID, '--invoice', UUID, '--value', '-1']],
  ['--reason', ['payment', 'count', UUID]],
  ['--reason', ['payment', 'count', UUID, '--reason', 'x']],
  ['--since', ['delivery', 'recover', UUID, '--since', 'yesterday']],
  ['--overlap', ['endpoint', 'rotate-secret', UUID, '--overlap', '8d']],
  ['network', ['tx', 'explain', 'etherum', 'ab']],
  ['network', ['chain', 'resume', 'etherum']],
  ['--from', ['chain', 'rescan', 'ethereum']],
  ['--from', ['chain', 'rescan', 'ethereum', '--from', '1e3']],
  ['--to', ['chain', 'rewind', 'ethereum']],
  ['--reason', ['chain', 'skip', 'ethereum']],
  ['--wait', ['chain', 'resume', 'ethereum', '--wait', 'long']],
  ['--through', ['chain', 'release-deadlines', 'ethereum', '--reason', 'down', '--through', 'soon']],
  ['--reason', ['chain', 'release-deadlines', 'ethereum', '--through', '10m']],
  ['--value', ['wallet', 'add', '--workspace', UUID, '--mode', 'test', '--family', 'evm', '--kind', 'xpub']],
  ['--wallet', ['wallet', 'prove', '--workspace', UUID]],
  ['--signature', ['wallet', 'prove', '--workspace', UUID, '--wallet', UUID, '--nonce', 'ab'.repeat(16)]],
] as const)('%s is named in the refusal of %j', async (word, args) => {
  expect(await runCli(args)).toBe(1)
  expect(printed()).toMatch(/^error: /)
  expect(printed()).toContain(word)
})

it('renders an output as lines, a list as a table, and times as dates', () => {
  const at = Date.UTC(2026, 9, 1)
  expect(
    plainText({ id: 'a', createdAt: at, left: { due: null, networks: ['tron', 'bsc'] }, steps: [{ ok: true }] }),
  ).toBe(
    [
      'id         a',
      'createdAt  2026-10-01T00:00:00.000Z',
      'left:',
      '  due       -',
      '  networks  tron,bsc',
      'steps:',
      '  -',
      '    ok  true',
    ].join('\n'),
  )
  const items = [{ id: 'a', key: { type: 'p2pkh' }, at }]
  expect(plainText({ items }, ['id', 'key.type', 'at'])).toBe('ID  TYPE   AT\na   p2pkh  2026-10-01T00:00:00.000Z')
  expect(plainText({ items: [] }, ['id'])).toBe('none')
})
