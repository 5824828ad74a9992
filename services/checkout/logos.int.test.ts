import { randomUUID } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLogoReader } from '#shared/runtime/images/logo-reader.ts'
import { changeLogo } from '#shared/usecases/workspaces/change-logo.ts'
import { updateWorkspace } from '#shared/usecases/workspaces/update-workspace.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
let stage: CheckoutStage
let admin: AdminCaller
beforeAll(async () => {
  stage = await openCheckout(stores)
  admin = await adminCaller(stores, { workspaceId: stage.engine.workspace.id })
})
afterAll(() => stage.close())

async function setLogo(file: Uint8Array | null): Promise<void> {
  const workspaceId = stage.engine.workspace.id
  const { version } = await admin.caller.workspace.get(admin.at)
  const action = { opId: randomUUID(), actor: 'test', reason: null }
  await changeLogo({ ...admin.deps, logoReader: createLogoReader() }, { workspaceId, version, file, action })
}
const picture = (background: string) =>
  sharp({ create: { width: 90, height: 30, channels: 3, background } })
    .png()
    .toBuffer()
const merchant = async (linkId: string) => (await stage.get(`/api/l/${linkId}`)).body.link.merchant

it('serves the logo from its own origin under its hash, for a year, without a cookie and not as a page', async () => {
  const linkId = await stage.link({ kind: 'fixed', minor: 700n })
  expect(await merchant(linkId)).toMatchObject({ logo: null, colour: null })
  await setLogo(await picture('teal'))
  const { logo } = await merchant(linkId)
  expect(logo).toMatchObject({ width: 90, height: 30, ground: 'light' })
  expect(logo.path).toMatch(/^\/logo\/[0-9a-f]{64}\.webp$/)
  const answer = await fetch(stage.url + logo.path)
  const headers = Object.fromEntries(answer.headers)
  expect(answer.status).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'image/webp',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
  })
  expect(answer.headers.getSetCookie()).toEqual([])
  expect(await sharp(Buffer.from(await answer.arrayBuffer())).metadata()).toMatchObject({ format: 'webp', width: 90 })
})

it('answers 404 without caching for what it does not have, also right after the logo was removed', async () => {
  const linkId = await stage.link({ kind: 'fixed', minor: 700n })
  await setLogo(await picture('maroon'))
  const { path } = (await merchant(linkId)).logo
  await setLogo(null)
  expect((await merchant(linkId)).logo).toBeNull()
  const names = [path, `/logo/${'0'.repeat(64)}.webp`, '/logo/..%2f..%2fpackage.json', '/logo/x.webp', `${path}x`]
  for (const name of names) {
    const { status, headers } = await stage.get(name)
    expect(status, name).toBe(404)
    expect(headers.get('cache-control'), name).not.toContain('immutable')
  }
})

it('shows the merchant’s colour and contact with invoice and link', async () => {
  const { id: workspaceId } = stage.engine.workspace
  const policy = { brandColour: '#ffd500', supportContact: 'help@example.com' }
  await updateWorkspace(admin.deps, { workspaceId, change: { policy } })
  const linkId = await stage.link({ kind: 'fixed', minor: 700n })
  expect(await merchant(linkId)).toMatchObject({ colour: '#ffd500', contact: 'help@example.com' })
  const made = await stage.post(`/api/l/${linkId}/invoice`, { actionId: randomUUID() })
  const { view } = (await stage.get(`/api/i/${made.body.invoice.id}`)).body
  expect(view.merchant).toMatchObject({ colour: '#ffd500', contact: 'help@example.com' })
  await updateWorkspace(admin.deps, { workspaceId, change: { policy: { brandColour: '', supportContact: '' } } })
  expect(await merchant(linkId)).toMatchObject({ colour: null, contact: null })
})
