import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cruiseImports } from '#scripts/check-imports.ts'

/** One bad import per rule: a gate nobody has seen fail is not a gate. */
const canaries: Record<string, { file: string; code: string; also?: Record<string, string> }> = {
  'domain-is-pure': { file: 'shared/domain/bad.ts', code: "import 'node:fs'" },
  'contracts-know-domain-and-zod': { file: 'shared/contracts/bad.ts', code: "import 'pino'" },
  'usecases-know-ports': { file: 'shared/usecases/bad.ts', code: "import '#shared/db/target.ts'" },
  'adapters-do-not-meet': { file: 'shared/db/bad.ts', code: "import '#shared/queues/target.ts'" },
  'definitions-are-data': { file: 'shared/chains/definitions/bad.ts', code: "import '#shared/chains/target.ts'" },
  'runtime-knows-no-store': { file: 'shared/runtime/bad.ts', code: "import '#shared/db/target.ts'" },
  'shared-never-looks-up': { file: 'shared/usecases/bad-up.ts', code: "import '#services/api/target.ts'" },
  'services-are-islands': { file: 'services/api/bad.ts', code: "import '#services/outbox/target.ts'" },
  'one-writer-of-status': {
    file: 'services/invoices/bad-status.ts',
    code: "import '#shared/domain/invoice/transition.ts'",
  },
  'mongo-behind-its-door': { file: 'services/api/bad-mongo.ts', code: "import 'mongoose'" },
  'redis-behind-its-door': { file: 'services/api/bad-redis.ts', code: "import 'ioredis'" },
  'express-at-the-edge': { file: 'services/invoices/bad.ts', code: "import 'express'" },
  'keys-behind-chains': { file: 'services/api/bad-keys.ts', code: "import 'ethers'" },
  'no-test-code-in-production': { file: 'services/outbox/bad-test.ts', code: "import 'fast-check'" },
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
  'shared/db/target.ts',
  'shared/queues/target.ts',
  'shared/chains/target.ts',
  'shared/domain/invoice/transition.ts',
  'services/api/target.ts',
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
    const result = await cruiseImports(root, ['services', 'shared', 'clients'])
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
