import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, it } from 'vitest'

const FOLDER = 'shared/db'
const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)
const WRITE = '\\s*\\.(insert|update|replace|delete|bulkWrite|findOneAnd)\\w*\\('

/** Files that write to the collection of audit rows, directly or by a name that they gave it. */
function writers(read: (name: string) => string, names: readonly string[]): readonly string[] {
  return names.filter((name) => {
    const text = read(name)
    const called = [...text.matchAll(/const (\w+) = db\.collection\(AUDIT_LOG\)/g)].map(([, given = '']) => given)
    return [...called.map((given) => `\\b${given}`), 'collection\\(AUDIT_LOG\\)'].some((target) =>
      new RegExp(`${target}${WRITE}`).test(text),
    )
  })
}

// Guarantee: an audit row is stored with its action by one helper; beside it, only the outbox relay adds rows and the chain gives places.
it('audit rows are written by the helper, the relay’s repository and the chain, and by nothing else', () => {
  const read = (name: string) => readFileSync(`${FOLDER}/${name}`, 'utf8')
  expect(sources.length).toBeGreaterThan(40)
  expect(
    writers(read, sources)
      .map((name) => basename(name))
      .sort(),
  ).toEqual(['audit-chain-repository.ts', 'audit-repository.ts', 'audited.ts'])
  const rogues = [
    'db.collection(AUDIT_LOG).updateOne({}, {})',
    'const log = db.collection(AUDIT_LOG)\nlog.insertOne({})',
  ]
  expect(rogues.map((text) => writers(() => text, ['rogue.ts']))).toEqual([['rogue.ts'], ['rogue.ts']])
})
