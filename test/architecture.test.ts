import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  crowdedFolders,
  fileImports,
  folderCircles,
  sourceFiles,
  unnamedFolders,
  upwardArrows,
} from '#dev/check-folders.ts'
import { cruiseImports } from '#dev/check-imports.ts'

/** One bad import per rule: a gate nobody has seen fail is not a gate. */
const canaries: Record<string, { file: string; code: string; also?: Record<string, string> }> = {
  'domain-is-pure': { file: 'shared/domain/bad.ts', code: "import 'node:fs'" },
  'contracts-know-domain-and-zod': { file: 'shared/contracts/bad.ts', code: "import 'pino'" },
  'usecases-know-ports': { file: 'shared/usecases/bad.ts', code: "import '#shared/queues/target.ts'" },
  'usecases-know-types-of-stores': { file: 'shared/usecases/bad-store.ts', code: "import '#shared/db/target.ts'" },
  'ports-know-contracts': { file: 'shared/ports/bad.ts', code: "import '#shared/usecases/target.ts'" },
  'ports-take-types-of-records': { file: 'shared/ports/bad-value.ts', code: "import '#shared/db/target.ts'" },
  'adapters-know-ports': { file: 'shared/queues/bad.ts', code: "import '#shared/usecases/target.ts'" },
  'no-barrels': {
    file: 'services/outbox/bad-barrel.ts',
    code: "import './steps/index.ts'",
    also: { 'services/outbox/steps/index.ts': '' },
  },
  'adapters-do-not-meet': { file: 'shared/db/bad.ts', code: "import '#shared/queues/target.ts'" },
  'definitions-are-data': { file: 'shared/chains/definitions/bad.ts', code: "import '#shared/chains/target.ts'" },
  'runtime-knows-no-store': { file: 'shared/runtime/bad.ts', code: "import '#shared/db/target.ts'" },
  'shared-never-looks-up': { file: 'shared/usecases/bad-up.ts', code: "import '#services/api/target.ts'" },
  'services-are-islands': { file: 'services/api/bad.ts', code: "import '#services/outbox/target.ts'" },
  'assemblies-open-nothing': { file: 'services/outbox/assemble.ts', code: "import '#shared/queues/target.ts'" },
  'one-writer-of-status': {
    file: 'services/invoices/bad-status.ts',
    code: "import '#shared/domain/invoice/transition.ts'",
  },
  'mongo-behind-its-door': { file: 'services/api/bad-mongo.ts', code: "import 'mongoose'" },
  'redis-behind-its-door': { file: 'services/api/bad-redis.ts', code: "import 'ioredis'" },
  'express-at-the-edge': { file: 'services/invoices/bad.ts', code: "import 'express'" },
  'keys-behind-chains': { file: 'services/api/bad-keys.ts', code: "import 'ethers'" },
  'no-test-code-in-production': { file: 'services/outbox/bad-test.ts', code: "import 'fast-check'" },
  'dev-is-not-the-product': { file: 'scripts/cli/bad-dev.ts', code: "import '#dev/target.ts'" },
  'clients-stand-alone': { file: 'clients/typescript/src/bad.ts', code: "import '#shared/db/target.ts'" },
  'product-knows-no-client': { file: 'services/api/bad-client.ts', code: "import '#clients/typescript/src/target.ts'" },
  'dashboard-knows-types-of-admin': {
    file: 'services/dashboard/bad.ts',
    code: "import '#services/admin/app-router.ts'",
    also: { 'services/admin/app-router.ts': '' },
  },
  'pages-know-contracts': { file: 'services/checkout/web/bad.ts', code: "import '#shared/queues/target.ts'" },
  'processes-know-no-page': { file: 'services/checkout/bad.ts', code: "import './web/bad.ts'" },
  'no-cycles': {
    file: 'shared/domain/cycle-a.ts',
    code: "import './cycle-b.ts'",
    also: { 'shared/domain/cycle-b.ts': "import './cycle-a.ts'" },
  },
  'no-unresolved': { file: 'shared/domain/bad-missing.ts', code: "import './nowhere.ts'" },
  'no-undeclared-package': { file: 'services/outbox/bad-dev.ts', code: "import 'esbuild'" },
}

/** What the bad imports point at. */
const targets = [
  'shared/usecases/target.ts',
  'shared/db/target.ts',
  'shared/queues/target.ts',
  'shared/chains/target.ts',
  'shared/domain/invoice/transition.ts',
  'services/api/target.ts',
  'dev/target.ts',
  'services/outbox/target.ts',
  'clients/typescript/src/target.ts',
]

describe('import rules', () => {
  let root = ''
  let seen: readonly string[] = []

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'paymesh-canary-'))
    const write = async (file: string, text: string) => {
      await mkdir(dirname(join(root, file)), { recursive: true })
      await writeFile(join(root, file), `${text}\nexport const here = true\n`)
    }
    await cp('package.json', join(root, 'package.json'))
    await cp('tsconfig.json', join(root, 'tsconfig.json'))
    await symlink(join(process.cwd(), 'node_modules'), join(root, 'node_modules'))
    for (const target of targets) await write(target, '')
    for (const canary of Object.values(canaries)) {
      await write(canary.file, canary.code)
      for (const [file, code] of Object.entries(canary.also ?? {})) await write(file, code)
    }
    const result = await cruiseImports(root, ['services', 'shared', 'scripts', 'clients'])
    seen = result.summary.violations.map((violation) => `${violation.rule.name} ${violation.from}`)
  })

  afterAll(async () => {
    await rm(root, { recursive: true, force: true })
  })

  test.each(Object.entries(canaries))('%s fires on a bad import', (name, canary) => {
    expect(seen).toContain(`${name} ${canary.file}`)
  })

  test('every rule of the configuration has a canary', () => {
    const config: { forbidden: { name: string }[] } = createRequire(import.meta.url)('../.dependency-cruiser.cjs')
    expect(config.forbidden.map((rule) => rule.name).sort()).toEqual(Object.keys(canaries).sort())
  })
})

describe('subject folders', () => {
  const files = sourceFiles(process.cwd())
  const imports = fileImports(process.cwd(), files)
  const many = Array.from({ length: 31 }, (_, index) => `shared/usecases/quotes/step-${index}.ts`)

  test('the drawing is read from the whole tree', () => {
    expect(files.length).toBeGreaterThan(800)
    expect(imports.length).toBeGreaterThan(3_000)
  })

  test('no folder has more than 30 source files, tests and ports aside', () => {
    expect(crowdedFolders(files)).toEqual([])
    expect(crowdedFolders(many)).toEqual(['shared/usecases/quotes: 31'])
    expect(crowdedFolders(many.slice(1))).toEqual([])
    expect(crowdedFolders(many.map((file) => file.replace('usecases/quotes', 'ports')))).toEqual([])
  })

  test('no import goes up a layer', () => {
    expect(upwardArrows(imports)).toEqual([])
    expect(
      upwardArrows([
        ['shared/ports/rates.ts', 'shared/usecases/rates/read-rate.ts'],
        ['shared/usecases/rates/read-rate.ts', 'shared/ports/rates.ts'],
        ['shared/db/rates/rate-repository.ts', 'services/rates/main.ts'],
      ]),
    ).toEqual([
      'shared/ports/rates.ts → shared/usecases/rates/read-rate.ts',
      'shared/db/rates/rate-repository.ts → services/rates/main.ts',
    ])
  })

  test('folders form no circle', () => {
    expect(folderCircles(imports)).toEqual([])
    expect(
      folderCircles([
        ['shared/usecases/a/one.ts', 'shared/usecases/b/two.ts'],
        ['shared/usecases/b/other.ts', 'shared/usecases/c/three.ts'],
        ['shared/usecases/c/three.ts', 'shared/usecases/a/last.ts'],
        ['shared/usecases/d/four.ts', 'shared/usecases/a/one.ts'],
      ]),
    ).toEqual(['shared/usecases/a ↔ shared/usecases/b ↔ shared/usecases/c'])
  })

  test('ARCHITECTURE.md is one screen and names every folder', async () => {
    const text = await readFile('ARCHITECTURE.md', 'utf8')
    expect(text.split('\n').length).toBeLessThanOrEqual(80)
    expect(unnamedFolders(files, text)).toEqual([])
    const rows = '| `shared/usecases/` | `quotes`, invoices |\n| `shared/db/` | the same |\n| `services/` | api |'
    const folders = [
      'shared/usecases/quotes',
      'shared/db/invoices',
      'shared/db/schema',
      'services/api',
      'services/rates',
    ]
    expect(
      unnamedFolders(
        folders.map((folder) => `${folder}/one.ts`),
        rows,
      ),
    ).toEqual(['services/rates', 'shared/db/schema'])
  })
})
