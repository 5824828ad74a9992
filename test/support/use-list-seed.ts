import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, inject } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import type { TestBrowser } from './browser.ts'
import { enrolAuthenticator } from './enrol-authenticator.ts'
import { type ListSeed, seedLists } from './list-seed.ts'
import { logIn } from './log-in.ts'
import { once } from './once.ts'
import { sharedInstallation } from './shared-installation.ts'

const SEEDING_MS = 300_000

/** The seeded workspace of the run's shared installation, and the session of its owner, who may change dangerous things. */
export interface OpenSeed {
  readonly dev: DevInfo
  readonly seed: ListSeed
  readonly storageState: Awaited<ReturnType<BrowserContext['storageState']>>
}

/** Seeds lists where no file before or beside it did, and logs their owner in; good inside hooks and tests of the file. Tests that change much take their own name. */
export function useListSeed(browser: TestBrowser, name = 'shared'): () => OpenSeed {
  let open: OpenSeed | undefined
  beforeAll(async () => {
    const dataDir = inject('stackDataDir')
    const dev = sharedInstallation()
    open = await once(join(dataDir, `list-seed-${name}.json`), async () => {
      const seed = await seedLists(dataDir, dev, { isOperator: name === 'shared' })
      const page = await browser.open()
      await logIn(page, { ...dev, ownerEmail: seed.email, ownerPassword: seed.password })
      await enrolAuthenticator(page, seed.password)
      await makeProduct(page, seed.workspaceId)
      return { dev, seed, storageState: await page.context().storageState() }
    })
  }, SEEDING_MS)
  return () => {
    if (open === undefined) throw new Error('the seed is open only inside hooks and tests')
    return open
  }
}

/** Something that this person did, for the audit trail. */
async function makeProduct(page: Page, workspaceId: string): Promise<void> {
  const product = { name: 'Tea', price: '3.00', currency: 'USD' }
  const status = await page.evaluate(
    async (body) => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch('/trpc/products.create', { method: 'POST', headers, body })).status
    },
    JSON.stringify({ workspaceId, mode: 'test', opId: randomUUID(), product }),
  )
  if (status !== 200) throw new Error(`the product was answered with ${status}`)
}
