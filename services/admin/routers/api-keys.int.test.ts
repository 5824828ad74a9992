import { beforeAll, describe, expect, test } from 'vitest'
import { API_KEYS } from '#shared/db/workspaces/api-key-model.ts'
import { parseApiKey } from '#shared/domain/api-key.ts'
import { createKeyRing } from '#shared/usecases/workspaces/api-key-cache.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let here: AdminCaller
beforeAll(async () => {
  here = await adminCaller(stores)
})

const opId = () => here.deps.random.uuid()
const scopes: ['invoices:read', 'invoices:write'] = ['invoices:read', 'invoices:write']

describe('API keys', () => {
  // Guarantee: a key is shown once and stored nowhere; the same action sent twice makes one key.
  test('a key is made once and shown once', async () => {
    const action = { ...here.at, opId: opId(), name: 'Shop', scopes }
    const answers = await Promise.all([here.caller.apiKeys.create(action), here.caller.apiKeys.create(action)])
    const shown = answers.flatMap(({ apiKey }) => apiKey ?? [])
    expect(shown).toHaveLength(1)
    expect(parseApiKey(shown[0] ?? '')).toEqual({ mode: 'test' })
    expect(answers[0]?.key).toEqual(answers[1]?.key)
    expect((await here.caller.apiKeys.create(action)).apiKey).toBeNull()
    const stored = await stores.db.collection(API_KEYS).find({ workspaceId: here.workspaceId }).toArray()
    expect(stored).toHaveLength(1)
    expect(JSON.stringify(stored)).not.toContain(shown[0])
    const rows = await here.deps.audits.listBySubject(stored[0]?._id ?? '')
    expect(rows.map(({ action, actor }) => `${action} ${actor}`)).toEqual(['api_key.created user:olivia@example.com'])
    const ring = createKeyRing({ ...here.deps, keys: here.deps.apiKeys })
    expect((await ring.find(shown[0] ?? ''))?.key.scopes).toEqual(scopes)
  })

  test('revoking asks for the last four characters, and is done once', async () => {
    const { key, apiKey } = await here.caller.apiKeys.create({ ...here.at, opId: opId(), name: 'Old', scopes })
    const revoke = { ...here.at, opId: opId(), keyId: key.id, last4: key.last4 }
    const wrong = { ...revoke, last4: key.last4 === 'aaaa' ? 'bbbb' : 'aaaa' }
    const { last4: _, ...without } = revoke
    for (const input of [wrong, without])
      await expect(here.caller.apiKeys.revoke(input)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const ring = createKeyRing({ ...here.deps, keys: here.deps.apiKeys })
    expect(await ring.find(apiKey ?? '')).not.toBeNull()
    const first = await here.caller.apiKeys.revoke(revoke)
    expect(first.revokedAt).not.toBeNull()
    expect(await here.caller.apiKeys.revoke({ ...revoke, opId: opId() })).toEqual(first)
    const credential = await createKeyRing({ ...here.deps, keys: here.deps.apiKeys }).find(apiKey ?? '')
    expect(credential).toBeNull()
    const rows = await here.deps.audits.listBySubject(key.id)
    expect(rows.map(({ action }) => action)).toEqual(['api_key.created', 'api_key.revoked'])
  })

  test('keys of another mode or workspace are not there', async () => {
    const { key } = await here.caller.apiKeys.create({ ...here.at, mode: 'live', opId: opId(), name: 'Live', scopes })
    const listed = (await here.caller.apiKeys.list(here.at)).items.map(({ id }) => id)
    expect(listed).not.toContain(key.id)
    const stranger = await adminCaller(stores)
    const revoke = { opId: opId(), keyId: key.id, last4: key.last4 }
    await expect(here.caller.apiKeys.revoke({ ...here.at, ...revoke })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const foreign = stranger.caller.apiKeys.revoke({ ...stranger.at, mode: 'live', ...revoke })
    await expect(foreign).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
