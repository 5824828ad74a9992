import { HDNodeWallet, Wallet } from 'ethers'
import { generate } from 'otplib'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, inject, test } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { SCRIPT_TYPES, type ScriptType } from '#shared/domain/script-type.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createMetrics } from '#shared/runtime/observability/metrics.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { axeViolations } from '#test/support/accessibility.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest } from '#test/support/depth.ts'
import { openPerson, ownWorkspace } from '#test/support/open-tenant.ts'
import { signBitcoinMessage } from '#test/support/prove-control.ts'
import { ACCOUNT_KEY_VECTORS } from '#test/vectors/account-keys.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'

const browser = useBrowser()
let dev: DevInfo

beforeAll(async () => {
  dev = await ownWorkspace()
})

/** Calls a procedure as the page would. */
async function call<T>(page: Page, path: string, input: unknown): Promise<T> {
  const data: unknown = await page.evaluate(
    async ([name, body]) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`/trpc/${name}`, { method: 'POST', headers, body: JSON.stringify(body) })
      const { result, error } = (await answer.json()) as { result: { data: unknown }; error?: object }
      if (error !== undefined) throw new Error(JSON.stringify(error))
      return result.data
    },
    [path, input] as const,
  )
  return data as T
}

/** An owner with an authenticator, logged in; gives codes that were not used yet. */
async function ownerWithAuthenticator(page: Page): Promise<() => Promise<string>> {
  const { email, password } = await openPerson(inject('stackDataDir'), { workspaceId: dev.workspaceId, role: 'owner' })
  await page.goto(`${dev.adminUrl}/login`)
  await call(page, 'auth.logIn', { email, password })
  const { secret } = await call<{ secret: string }>(page, 'auth.beginEnrolment', { password, code: null })
  await call(page, 'auth.confirmEnrolment', { code: await generate({ secret }) })
  return async () => await generate({ secret, epoch: Math.floor(Date.now() / 1_000) + 30 })
}

/** Answers the text that the page shows with a signature; `scope` is where its form is. */
async function prove(page: Page, scope: Page | Locator, sign: (text: string) => string): Promise<void> {
  await scope.getByRole('button', { name: 'Show text to sign' }).click()
  const text = await scope.getByTestId('challenge').textContent()
  expect(text).toContain(`workspace ${dev.workspaceId}`)
  expect(await axeViolations(page)).toEqual([])
  await scope.getByLabel('Signature').fill(sign(text?.slice(0, text.lastIndexOf('.') + 1) ?? ''))
}

/** Adds what is prepared, with a code of the authenticator when the page asks for one. */
async function addAndConfirm(page: Page, nextCode: () => Promise<string>): Promise<void> {
  await page.getByRole('button', { name: 'Add wallet' }).click()
  const question = page.getByRole('dialog', { name: 'Confirm it’s you' })
  const added = page.getByRole('heading', { name: 'Send a small test payment' })
  await question.or(added).first().waitFor()
  if (await question.isVisible()) {
    await question.getByLabel('Authenticator code').fill(await nextCode())
    await question.getByRole('button', { name: 'Confirm' }).click()
  }
  await added.waitFor()
}

test('a public key is compared and added; a private one is refused and leaves the page', async () => {
  const page = await browser.open()
  const nextCode = await ownerWithAuthenticator(page)
  const key = HDNodeWallet.createRandom('', "m/44'/60'/0'")
  await page.goto(`${dev.adminUrl}${dashboardPath('wallets/add', dev.workspaceId, 'live')}`)
  await page.getByLabel('Network').selectOption('evm')
  const field = page.getByRole('textbox', { name: 'Extended public key' })
  await field.fill(key.extendedKey)
  await page.getByRole('button', { name: 'Preview addresses' }).click()
  await page.getByText(/This is an extended private key/).waitFor()
  await expect.poll(async () => await field.inputValue()).toBe('')

  await field.fill(key.neuter().extendedKey)
  await page.getByRole('button', { name: 'Preview addresses' }).click()
  const table = page.getByRole('table', { name: 'First addresses' })
  await table.waitFor()
  const shown = await table.locator('.pm-compare').allInnerTexts()
  const own = [0, 1, 2, 3, 4].map((index) => key.deriveChild(0).deriveChild(index).address)
  expect(shown.map((text) => text.replaceAll(/\s/g, ''))).toEqual(own)

  await page.getByRole('radio', { name: 'They match' }).check()
  // No live node is configured here, so nothing but the person can say where to begin.
  await page.getByText('No connected node can check whether this key was used before.').waitFor()
  await page.getByLabel('Start index').fill('0')
  // Other workspaces live on this installation, so that the key needs a proof.
  expect(await page.getByRole('button', { name: 'Add wallet' }).isDisabled()).toBe(true)
  const first = key.deriveChild(0).deriveChild(0)
  await prove(page, page, (text) => first.signMessageSync(text))
  await addAndConfirm(page, nextCode)
  await page.getByRole('link', { name: 'All wallets' }).last().click()
  await page.getByRole('region', { name: 'Ethereum and other EVM networks' }).getByText('Active').first().waitFor()
  await page.getByText('You proved that you control this wallet.').first().waitFor()
})

// Guarantee: payers are sent to addresses that the merchant's own wallet shows, from the first unused one on.
test('an xpub is a question: its addresses of each kind are shown, and a start index is asked for', async () => {
  const page = await browser.open()
  const nextCode = await ownerWithAuthenticator(page)
  const [vector] = ACCOUNT_KEY_VECTORS
  if (vector === undefined) throw new Error('no vector')
  const book = createAddressBook()
  const firstOf = (scriptType: ScriptType) => {
    const { xpub } = book.normalise('bitcoin', 'live', vector.key, { scriptType })
    return book.derive('bitcoin', 'live', xpub, 0, 5).map(({ address }) => address)
  }
  await page.goto(`${dev.adminUrl}${dashboardPath('wallets/add', dev.workspaceId, 'live')}`)
  await page.getByLabel('Network').selectOption('bitcoin')
  await page.getByRole('textbox', { name: 'Extended public key' }).fill(vector.key)
  await page.getByRole('button', { name: 'Preview addresses' }).click()

  await page.getByRole('heading', { name: 'Which is the first receive address in your wallet?' }).waitFor()
  const compared = page.locator('.pm-compare')
  const shown = (await compared.allInnerTexts()).map((text) => text.replaceAll(/\s/g, ''))
  expect(shown).toEqual(SCRIPT_TYPES.map((type) => firstOf(type)[0]))
  const goOn = page.getByRole('button', { name: 'Continue' })
  expect(await goOn.isDisabled()).toBe(true)
  await page.getByRole('radio', { name: 'None of these' }).check()
  await page.getByText(/it belongs to a different account/).waitFor()
  expect(await goOn.isDisabled()).toBe(true)
  await page.getByRole('radio', { name: 'Legacy' }).check()
  await goOn.click()

  const table = page.getByRole('table', { name: 'First addresses' })
  await table.waitFor()
  const five = (await table.locator('.pm-compare').allInnerTexts()).map((text) => text.replaceAll(/\s/g, ''))
  expect(five).toEqual(firstOf('p2pkh'))
  expect(five[0]).toBe(vector.first)
  await table.getByText("m/44'/0'/0'/0/4").waitFor()
  await page.getByRole('radio', { name: 'They match' }).check()
  expect(await page.getByRole('button', { name: 'Add wallet' }).isDisabled()).toBe(true)
  await page.getByLabel('Start index').fill('13')
  const signer = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/0'/0'/0/0")
  await prove(page, page, (text) => signBitcoinMessage(signer, text))
  await addAndConfirm(page, nextCode)
  await page.getByText('New invoices start at index 13, as entered.').waitFor()
  await page.getByRole('link', { name: 'All wallets' }).last().click()
  const card = page.getByRole('region', { name: 'Bitcoin' })
  await card
    .getByText(/public key, Legacy · Bitcoin/)
    .first()
    .waitFor()
  await card.getByText('New invoices start at index 13, as entered.').first().waitFor()
})

deepTest('a key of Electrum asks for its path', async () => {
  const page = await browser.open()
  await ownerWithAuthenticator(page)
  const vector = ACCOUNT_KEY_VECTORS.find(({ path }) => path === "m/0'")
  await page.goto(`${dev.adminUrl}${dashboardPath('wallets/add', dev.workspaceId, 'live')}`)
  await page.getByLabel('Network').selectOption('bitcoin')
  await page.getByRole('textbox', { name: 'Extended public key' }).fill(vector?.key ?? '')
  await page.getByRole('button', { name: 'Preview addresses' }).click()
  await page.getByText(/where Electrum keeps its own wallets/).waitFor()
  await page.getByLabel('Derivation path').fill("m/0'")
  await page.getByRole('button', { name: 'Preview addresses' }).click()
  const table = page.getByRole('table', { name: 'First addresses' })
  await table.waitFor()
  const [first] = await table.locator('.pm-compare').allInnerTexts()
  expect(first?.replaceAll(/\s/g, '')).toBe(vector?.first)
})

/** Stores a live wallet as the version before proofs stored it. */
async function formerWallet(address: string): Promise<void> {
  const { stores } = parseConfig(readEnvironment(inject('stackDataDir')) ?? {})
  const logger = createLogger({ name: 'browser', level: 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
  const runtime = {
    random: createRandom(Date.now),
    logger,
    clock: { now: Date.now },
    metrics: createMetrics({ defaults: false }),
  }
  const parts = { wallets: createWalletRepository(db), catalog: createCatalog({ live: {}, test: {} }) }
  const more = { addressBook: createAddressBook(), secretBox: createSecretBox(new Uint8Array(32)) }
  const rest = { workspaces: createWorkspaceRepository(db), mails: createMailRepository(db) }
  try {
    const about = { workspaceId: dev.workspaceId, mode: 'live', family: 'evm', kind: 'address' } as const
    await addWallet({ ...runtime, ...parts, ...more, ...rest, marks: NO_MARKS }, { ...about, value: address })
  } finally {
    await db.close()
  }
}

// Guarantee: a wallet of before goes on, and its owner is shown that another workspace could take it over, and how to prevent that.
deepTest('a wallet that nobody proved says so, and is proved on its card', async () => {
  dev = await ownWorkspace()
  const signer = Wallet.createRandom()
  await formerWallet(signer.address)
  const page = await browser.open()
  const nextCode = await ownerWithAuthenticator(page)
  await page.goto(`${dev.adminUrl}${dashboardPath('wallets', dev.workspaceId, 'live')}`)
  const card = page.getByRole('region', { name: 'Ethereum and other EVM networks' })
  await card.getByText(/Proof of control is missing: this server has more than one workspace/).waitFor()
  expect(await axeViolations(page)).toEqual([])
  await card.getByRole('button', { name: 'Prove control' }).click()
  await prove(page, card, (text) => signer.signMessageSync(text))
  await card.getByRole('button', { name: 'Submit proof', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Confirm it’s you' })
  const missing = card.getByText(/Proof of control is missing/)
  await expect.poll(async () => (await question.isVisible()) || (await missing.count()) === 0).toBe(true)
  if (await question.isVisible()) {
    await question.getByLabel('Authenticator code').fill(await nextCode())
    await question.getByRole('button', { name: 'Confirm' }).click()
  }
  await missing.waitFor({ state: 'detached' })
  await card.getByText('You proved that you control this wallet.').first().waitFor()
})

// Guarantee: a screen reader tells two wallets of one family apart.
deepTest('two wallets of one family are two regions with their own names', async () => {
  dev = await ownWorkspace()
  for (const _one of [1, 2]) await formerWallet(Wallet.createRandom().address)
  const page = await browser.open()
  await ownerWithAuthenticator(page)
  await page.goto(`${dev.adminUrl}${dashboardPath('wallets', dev.workspaceId, 'live')}`)
  for (const place of [1, 2])
    await page.getByRole('region', { name: `Ethereum and other EVM networks, wallet ${place} of 2` }).waitFor()
  expect(await axeViolations(page)).toEqual([])
})
