import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const sources = ['shared', 'services', 'scripts', 'dev'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|fixture)\.tsx?$|node_modules/.test(path)),
)
/** A call, on the repository or on one that was just made; use cases that hand the repository on name `save` without calling it. */
const SAVES = [
  /\binvoices\s*\.save\(/,
  /createInvoiceRepository\([^)]*\)\s*\.save\(/,
  /\bsave\s*\}\s*=[^\n]*\binvoices\b/,
]

/** Files that save an invoice's state. */
const writers = (paths: readonly string[], read: (path: string) => string) =>
  paths.filter((path) => SAVES.some((pattern) => pattern.test(read(path))))

// Guarantee: no code but the one that asked transition() saves what an invoice becomes.
it('an invoice is saved by applyInvoiceEvent and by nothing else', () => {
  expect(sources.length).toBeGreaterThan(800)
  expect(writers(sources, (path) => readFileSync(path, 'utf8'))).toEqual([
    'shared/usecases/invoices/apply-invoice-event.ts',
  ])
  const rogues = [
    'await deps.invoices.save({ id })',
    'createInvoiceRepository(db).save(it)',
    'const { save } = deps.invoices',
  ]
  for (const text of rogues) expect(writers(['rogue.ts'], () => text)).toEqual(['rogue.ts'])
})
