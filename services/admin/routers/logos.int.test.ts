import sharp from 'sharp'
import { beforeAll, describe, expect, test } from 'vitest'
import { WORKSPACE_LOGOS } from '#shared/db/workspaces/logos.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let here: AdminCaller
beforeAll(async () => {
  here = await adminCaller(stores)
})

const opId = () => here.deps.random.uuid()
const picture = async (background: string) =>
  (
    await sharp({ create: { width: 64, height: 32, channels: 3, background } })
      .png()
      .toBuffer()
  ).toString('base64')
const rows = (workspaceId: string) => stores.db.collection(WORKSPACE_LOGOS).find({ _id: workspaceId }).toArray()

async function set(who: AdminCaller, image: string | null) {
  const { version } = await who.caller.workspace.get(who.at)
  return await who.caller.workspace.setLogo({ ...who.at, opId: opId(), version, image })
}

describe('a logo', () => {
  test('is stored with its workspace and one audit row that names its hash, replaced, shown and removed', async () => {
    const first = await set(here, await picture('teal'))
    expect(first.logo).toMatchObject({ width: 64, height: 32, ground: 'light' })
    const second = await set(here, await picture('maroon'))
    expect(second.logo?.hash).not.toBe(first.logo?.hash)
    expect(await rows(here.workspaceId)).toMatchObject([{ hash: second.logo?.hash }])
    const { image } = await here.caller.workspace.logo(here.at)
    const bytes = Buffer.from(image?.replace('data:image/webp;base64,', '') ?? '', 'base64')
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 64, height: 32 })
    expect((await set(here, null)).logo).toBeNull()
    expect(await rows(here.workspaceId)).toEqual([])
    expect(await here.caller.workspace.logo(here.at)).toEqual({ image: null })
    const [created, ...audit] = await here.deps.audits.listBySubject(here.workspaceId)
    expect(created?.action).toBe('workspace.created')
    expect(audit.map(({ action, detail }) => [action, detail['changed'], detail['logo']])).toEqual([
      ['workspace.settings_changed', 'logo', first.logo?.hash],
      ['workspace.settings_changed', 'logo', second.logo?.hash],
      ['workspace.settings_changed', 'logo', null],
    ])
  })

  // Guarantee: no workspace reads, replaces or removes the logo of another, also not one with the same picture.
  test('of another workspace stays as it is, whatever this one does', async () => {
    const there = await adminCaller(stores, { email: 'bob@example.com' })
    const image = await picture('navy')
    const theirs = await set(there, image)
    expect((await here.caller.workspace.get(here.at)).logo).toBeNull()
    expect(await here.caller.workspace.logo(here.at)).toEqual({ image: null })
    expect((await set(here, image)).logo?.hash).toBe(theirs.logo?.hash)
    await set(here, null)
    expect(await there.deps.logos.findByHash(theirs.logo?.hash ?? '')).not.toBeNull()
    const { version } = await there.caller.workspace.get(there.at)
    const foreign = { ...here.at, workspaceId: there.workspaceId }
    await expect(here.caller.workspace.logo(foreign)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const taking = here.caller.workspace.setLogo({ ...foreign, opId: opId(), version, image: null })
    await expect(taking).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await there.caller.workspace.get(there.at)).logo).toEqual(theirs.logo)
    expect(await rows(there.workspaceId)).toHaveLength(1)
  })

  test('that is no picture, or comes too late, changes nothing', async () => {
    const kept = await set(here, await picture('olive'))
    const { version } = await here.caller.workspace.get(here.at)
    const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
    for (const image of [base64('<svg onload="alert(1)"/>'), base64('GIF89a'), '', '%%%', 'A'.repeat(900_001)]) {
      const refused = here.caller.workspace.setLogo({ ...here.at, opId: opId(), version, image })
      await expect(refused).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    }
    const late = here.caller.workspace.setLogo({ ...here.at, opId: opId(), version: version - 1, image: null })
    await expect(late).rejects.toMatchObject({ code: 'CONFLICT' })
    expect((await here.caller.workspace.get(here.at)).logo).toEqual(kept.logo)
    expect(await rows(here.workspaceId)).toHaveLength(1)
  })
})

describe('a colour', () => {
  test('is stored in lower case, removed with null, and refused unless it is one', async () => {
    const { version } = await here.caller.workspace.get(here.at)
    const change = (brandColour: string | null, from: number) =>
      here.caller.workspace.update({ ...here.at, opId: opId(), version: from, change: { brandColour } })
    const after = await change('#FFD500', version)
    expect(after.brandColour).toBe('#ffd500')
    expect((await change(null, after.version)).brandColour).toBeNull()
    for (const bad of ['red', '#fff', '#12345g', 'url(https://x.example)', '#0b4f57;}'])
      await expect(change(bad, after.version + 1), bad).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })
})
