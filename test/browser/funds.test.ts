import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Wallet } from 'ethers'
import type { Page } from 'playwright-core'
import { beforeAll, expect, inject, test } from 'vitest'
import { payLocally } from '#dev/local-chain/pay-locally.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { amountsIn, type PutIn, ungroupedIn, withExtremeValues } from '#test/support/extreme-values.ts'
import { logIn } from '#test/support/log-in.ts'
import { ownWorkspace } from '#test/support/open-tenant.ts'
import { lookAtCards } from '#test/support/phone-cards.ts'
import { runCli } from '#test/support/world.ts'

/** Axe takes a second per page, and half a minute on a busy machine. */
const SLOW_MACHINE_MS = 300_000
const AMOUNT = 1_234_500_000_000_000_000n

const browser = useBrowser()
const dataDir = inject('stackDataDir')
let dev: DevInfo
let walletId: string
let address: string

interface AddedWallet {
  readonly wallet: { readonly id: string }
}
interface Funds {
  readonly lines: readonly { readonly address: string; readonly asset: string; readonly balance: string | null }[]
}

beforeAll(async () => {
  dev = await ownWorkspace()
  address = Wallet.createRandom().address
  const scope = ['--workspace', dev.workspaceId, '--mode', 'test', '--family', 'evm', '--kind', 'address']
  const added = await runCli<AddedWallet>(dataDir, [
    'wallet',
    'add',
    ...scope,
    '--networks',
    'ethereum',
    '--value',
    address,
  ])
  walletId = added.wallet.id
  const node = parseConfig(readEnvironment(dataDir) ?? {}, 'cli').networks.test.ethereum
  const payment = { asset: 'eth_ethereum', contract: null, to: address, amountBase: AMOUNT } as const
  await payLocally({ ...payment, rpcUrl: node?.rpcUrls[0] ?? '' })
  // The page keeps a reading for 30 s: it is opened when the payment is in a block.
  const held = async () => (await runCli<Funds>(dataDir, ['wallet', 'funds', walletId])).lines.length
  while ((await held()) === 0);
}, SLOW_MACHINE_MS)

const path = () => `${dev.adminUrl}${dashboardPath(`wallets/${walletId}/funds`, dev.workspaceId, 'test')}`
async function looksRight(page: Page): Promise<void> {
  for (const width of [390, 1280, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    expect({ width, pixels: await sidewaysPixels(page) }).toEqual({ width, pixels: 0 })
    // The cards are drawn after the window has its new width.
    if (width === 390) await expect.poll(async () => (await lookAtCards(page)).wrong).toEqual([])
  }
  expect(await axeViolations(page)).toEqual([])
}

test(
  'a person reads where the money of a wallet lies, and saves it as CSV',
  async () => {
    const page = await browser.open()
    await logIn(page, dev, dashboardPath('wallets', dev.workspaceId, 'test'))
    await page
      .getByRole('link', { name: /^Where the money lies/ })
      .first()
      .click()
    await page.getByRole('heading', { name: 'Where the money lies', level: 1 }).waitFor()
    await page.goto(path())
    await settled(page)
    const csv = page.getByRole('button', { name: 'Download CSV' })
    expect(await csv.isDisabled()).toBe(true)
    const table = page.getByRole('table', { name: 'Addresses' })
    const first = page.getByRole('button', { name: 'Read balances' })
    await first.click()
    await page.getByText('1 address read.').waitFor()
    await table.getByText('1.2345 ETH').waitFor()
    await looksRight(page)

    const waiting = page.waitForEvent('download')
    await csv.click()
    const saved = await waiting
    expect(saved.suggestedFilename()).toBe(`test_funds-${walletId.slice(0, 8)}.csv`)
    const text = await readFile(await saved.path(), 'utf8')
    expect(text.startsWith('\uFEFF')).toBe(true)
    expect(text).toContain(`ethereum,${address},,eth_ethereum,1.2345,`)

    const found = await runCli<Funds>(dataDir, ['wallet', 'funds', walletId])
    expect(found.lines).toMatchObject([{ address, asset: 'eth_ethereum', balance: '1.2345' }])
  },
  SLOW_MACHINE_MS,
)

// Guarantee: a reading that failed or ended early never looks like the whole.
test(
  'a reading that fails says so and no more, and one that fails later gives lower bounds and a file that is named so',
  async () => {
    const page = await browser.open()
    await logIn(page, dev)
    await page.goto(path())
    await settled(page)
    const answers: ('refuse' | 'more')[] = ['refuse', 'more', 'refuse']
    await page.route('**/trpc/funds.page*', async (route) => {
      if (answers.shift() !== 'more') return await route.abort('connectionrefused')
      let response = await route.fetch()
      // A node that is busy with other tests may answer too late or lag: then the balances are unknown, which is no lower bound.
      while (!(await response.text()).includes('"fault":null')) {
        await delay(500)
        response = await route.fetch()
      }
      // As if more addresses followed.
      await route.fulfill({ response, body: (await response.text()).replace('"next":null', '"next":"aa"') })
    })
    const read = page.getByRole('button', { name: /^Read (balances|again)$/ })
    await read.click()
    await page.getByText('The balances could not be read. No changes were made.').waitFor()
    await page.getByText(/^Not every used address was read/).waitFor()
    expect(await page.getByText('No used address holds anything.').count()).toBe(0)
    await read.click()
    await page.getByText('1 address read.').waitFor()
    await page.getByText(/^Ethereum: at least/).waitFor()
    await page.getByText(/^Not every used address was read/).waitFor()
    await looksRight(page)
    const waiting = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV' }).click()
    expect((await waiting).suggestedFilename()).toBe(`test_funds-${walletId.slice(0, 8)}-partial.csv`)
  },
  SLOW_MACHINE_MS,
)

// Guarantee: however much or little an address holds, the page says what the server says.
deepTest(
  'extreme balances and costs are shown as the server says them',
  async () => {
    const page = await browser.open()
    await logIn(page, dev)
    await page.goto(path())
    await settled(page)
    const put: PutIn[] = []
    await page.route('**/trpc/funds.page*', async (route) => {
      const response = await route.fetch()
      const body = withExtremeValues('funds.page', await response.json(), (one) => put.push(one))
      await route.fulfill({ response, json: body })
    })
    await page.getByRole('button', { name: 'Read balances' }).click()
    await page.getByText('1 address read.').waitFor()
    await looksRight(page)
    const text = await page.evaluate<string>(`document.querySelector('main').innerText`)
    expect(put.map(({ field }) => field.split('.').at(-1))).toEqual(
      expect.arrayContaining(['balance', 'balanceFiat', 'fee', 'feeFiat', 'topUp']),
    )
    expect(amountsIn(text)).toEqual(expect.arrayContaining(put.flatMap(({ amount = [] }) => amount)))
    expect(ungroupedIn(text)).toEqual([])
  },
  SLOW_MACHINE_MS,
)

deepTest.each(
  sampleOf(
    [
      {
        ...{ locale: 'es-MX', title: 'Dónde está el dinero', read: 'Leer saldos' },
        ...{ goLive: 'Puesta en marcha', check: 'Comprobar ahora', state: 'La guardo en otro lugar' },
        noChecks: 'Error al cargar las comprobaciones. No se cambió nada.',
        noWallets: 'Error al cargar los monederos. No se cambió nada.',
        offline: 'El servidor no respondió.',
      },
      {
        ...{ locale: 'pt-BR', title: 'Onde está o dinheiro', read: 'Ler saldos' },
        ...{ goLive: 'Entrar em produção', check: 'Verificar agora', state: 'Guardo em outro lugar' },
        noChecks: 'Erro ao carregar as verificações. Nada foi alterado.',
        noWallets: 'Erro ao carregar as carteiras. Nada foi alterado.',
        offline: 'O servidor não respondeu.',
      },
    ],
    1,
  ),
)(
  'both pages speak $locale, also when they cannot load and when they ask',
  async ({ locale, title, read, goLive, check, state, noChecks, noWallets, offline }) => {
    const page = await browser.open({ locale })
    await logIn(page, dev)
    await page.goto(path())
    await page.getByRole('heading', { name: title, level: 1 }).waitFor()
    await page.getByRole('button', { name: read }).waitFor()
    await settled(page)
    await looksRight(page)
    await page.goto(`${dev.adminUrl}${dashboardPath('go-live', dev.workspaceId, 'test')}`)
    await page.getByRole('heading', { name: goLive, level: 1 }).waitFor()
    await page.getByRole('button', { name: check }).waitFor()
    await settled(page)
    await looksRight(page)
    await page.getByRole('button', { name: state }).click()
    const dialog = page.getByRole('dialog', { name: state })
    await dialog.locator('form').waitFor()
    expect(await dialog.locator('form').getByRole('button').allTextContents()).toEqual(['Cancelar', state])
    await page.route(/\/trpc\/[^?]*(wallets\.list|goLive\.read)/, (route) => route.abort('connectionrefused'))
    await page.reload()
    await page.getByRole('alert').getByText(noChecks).waitFor()
    await page.goto(path())
    await page.getByRole('alert').getByText(noWallets).waitFor()
    await page.getByRole('alert').getByText(offline).waitFor()
    await looksRight(page)
  },
  SLOW_MACHINE_MS,
)

deepTest(
  'a check names what is missing, and an address is compared with the person’s own',
  async () => {
    const page = await browser.open()
    await logIn(page, dev)
    await page.goto(`${dev.adminUrl}${dashboardPath('go-live', dev.workspaceId, 'test')}`)
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText('No back-up was made in the last eight days.').waitFor()
    const item = page.getByRole('region', { name: /^Address in your own wallet/ })
    expect(await item.textContent()).not.toContain(address)
    await item.getByRole('textbox').fill(Wallet.createRandom().address)
    await item.getByRole('button', { name: /^Compare/ }).click()
    await item.getByText(/^The address differs from the one/).waitFor()
    await item.getByRole('textbox').fill(address)
    await item.getByRole('button', { name: /^Compare/ }).click()
    await item.getByText('Passed', { exact: true }).waitFor()
    await looksRight(page)
  },
  SLOW_MACHINE_MS,
)
