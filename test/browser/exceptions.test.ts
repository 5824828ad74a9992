import { expect, inject, test } from 'vitest'
import { createPaymesh } from '#clients/typescript/src/main.ts'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { axeViolations, settled, sidewaysPixels } from '#test/support/accessibility.ts'
import { useBrowser } from '#test/support/browser.ts'
import { dashboardPath } from '#test/support/dashboard-pages.ts'
import { logIn } from '#test/support/log-in.ts'
import { openPerson, ownWorkspace } from '#test/support/open-tenant.ts'
import { runCli } from '#test/support/world.ts'

const browser = useBrowser()
/** A name is text, however long and whatever it says. */
const LONG = `<b>Ana</b> ${'María-del-Carmen'.repeat(3)}`

/** An entry that waits in the inbox: an invoice that was paid too much. */
async function openEntry(dev: DevInfo, dataDir: string): Promise<string> {
  const shop = createPaymesh({ apiKey: dev.testKey, baseUrl: dev.apiUrl })
  const { id } = await shop.invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' })
  await shop.invoices.simulate(id, 'overpaid')
  const list = ['exceptions', 'list', '--workspace', dev.workspaceId]
  const waiting = async () => {
    const open = await runCli<readonly { id: string; invoice_id: string | null }[]>(dataDir, list)
    return open.find((entry) => entry.invoice_id === id)?.id
  }
  await expect.poll(waiting).toBeDefined()
  return (await waiting()) ?? ''
}

test('two operators who open one entry are shown each other, until one closes it', async () => {
  const dataDir = inject('stackDataDir')
  const dev = await ownWorkspace()
  const path = dashboardPath(`exceptions/${encodeURIComponent(await openEntry(dev, dataDir))}`, dev.workspaceId, 'test')
  const enter = async (name: string) => {
    const { email, password } = await openPerson(dataDir, { workspaceId: dev.workspaceId, role: 'support', name })
    const page = await browser.open({ width: 1100 })
    await logIn(page, { ...dev, ownerEmail: email, ownerPassword: password }, path)
    const item = page.getByRole('complementary', { name: 'Overpaid' })
    return { page, item, others: item.getByRole('status') }
  }
  const ana = await enter(LONG)
  await ana.item.waitFor()
  expect(await ana.others.textContent()).toBe('')

  const luis = await enter('Luis Peña')
  await luis.others.getByText(`${LONG} also has this open.`).waitFor()
  await ana.others.getByText('Luis Peña also has this open.').waitFor()
  await settled(luis.page)
  for (const colorScheme of ['light', 'dark'] as const) {
    await luis.page.emulateMedia({ colorScheme })
    await luis.page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
    expect({ colorScheme, found: await axeViolations(luis.page) }).toEqual({ colorScheme, found: [] })
  }
  expect(await sidewaysPixels(luis.page)).toBe(0)
  // The name is cut and what is said of it is not.
  const [line, name] = [luis.others.locator('span'), luis.others.locator('b')]
  expect((await name.boundingBox())?.width).toBeLessThan((await line.boundingBox())?.width ?? 0)
  expect(await name.evaluate((cut) => cut.scrollWidth > cut.clientWidth)).toBe(true)

  await ana.item.getByRole('button', { name: 'Close', exact: true }).first().click()
  await ana.item.waitFor({ state: 'detached' })
  await expect.poll(async () => await luis.others.textContent()).toBe('')
})
