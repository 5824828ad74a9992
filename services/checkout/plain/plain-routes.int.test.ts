import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CheckoutStage, makePages, openCheckout } from '#services/checkout/checkout.fixture.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createMemoryTokenBuckets } from '#shared/queues/token-bucket.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const ACTION = '0d7e8f3a-5a54-4d05-9c6c-0d0e4a2b7c11'
const FORM = 'application/x-www-form-urlencoded'
/** What a page says that does something by itself. */
const PROMISE = /This page (updates|loads|checks|tries|then)/
let stage: CheckoutStage
/** Time of the limits stands still. */
beforeAll(async () => {
  stage = await openCheckout(stores, { pagesDir: makePages(), buckets: createMemoryTokenBuckets(() => 1_000_000) })
})
afterAll(() => stage.close())

const form = async (
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
  payer = '203.0.113.9',
) =>
  await fetch(stage.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { Origin: stage.url, 'X-Forwarded-For': payer, ...headers },
    body: new URLSearchParams(fields),
  })
const fresh = async () => (await stage.engine.open()).terms.id
const storedOf = async (id: string) => await stores.db.collection(INVOICES).findOne({ _id: id })

describe('documents', () => {
  // Guarantee: no fault and no crowd takes the page: it reads nothing and counts nothing.
  it('are the page for any id, however many one address asks for, and lead to the one without a script', async () => {
    const id = '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40'
    const paths = [`/i/${id}`, `/i/${id}/receipt`, `/l/${id}`]
    const answers = await Promise.all(Array.from({ length: 300 }, (_, at) => stage.get(paths[at % 3] ?? '')))
    for (const { status, headers } of answers) {
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    }
    for (const [at, path] of paths.entries()) {
      expect(answers[at]?.body).toContain(`<a href="${path}/plain">`)
      expect(answers[at]?.body).not.toContain('needs')
    }
    expect((await stage.get(`/i/${id}?lang=pt`)).body).toContain(`<a href="/i/${id}/plain?lang=pt">`)
    for (const path of ['/i/none', '/l/none', '/nothing', '/i/%zz', '/%', `/i//${id}`, '/r/none/plain']) {
      const { status, headers, body } = await stage.get(path)
      expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8'])
      // Without a script too: the page is missing, whatever runs on it.
      expect(body).toContain('<h1>Page not found</h1>')
      expect(body).not.toContain('needs')
    }
  })

  it('are pages for a method that they do not take, and lead on all the same', async () => {
    const id = await fresh()
    for (const path of [`/i/${id}`, `/i/${id}/receipt`, `/l/${id}`]) {
      const answer = await form(path, { asset: 'usdt_ethereum' })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
      expect(await answer.text()).toContain(`<a href="${path}/plain">`)
    }
    const unknown = await form('/nothing', {})
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  })

  it('and data say when to ask again: 429 to a crowd', async () => {
    const { deps } = stage
    const get = deps.buckets.take
    deps.buckets.take = async () => ({ allowed: false, retryAfter: 7 })
    const [data, plain] = await Promise.all([
      stage.get(`/api/i/${await fresh()}`),
      stage.get(`/i/${await fresh()}/plain`),
    ])
    deps.buckets.take = get
    expect([data.status, data.headers.get('retry-after'), data.body.error.code]).toEqual([429, '7', 'RATE_LIMITED'])
    expect([plain.status, plain.headers.get('retry-after'), plain.headers.get('refresh')]).toEqual([429, '7', '7'])
    expect(plain.body).toContain('Too many requests came from your connection')
  })
})

describe('a page without a script', () => {
  it('has its own policy, which allows its forms and nothing that runs', async () => {
    const { headers, body } = await stage.get(`/i/${await fresh()}/plain`)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("form-action 'self'")
    expect(policy).not.toContain('script-src')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).not.toContain('<script')
  })

  it('takes the coin of a form once, and answers 303', async () => {
    const id = await fresh()
    const send = () => form(`/i/${id}/plain/asset?lang=es`, { asset: 'usdt_ethereum', actionId: ACTION })
    const answers = await Promise.all([send(), send()])
    for (const answer of answers)
      expect([answer.status, answer.headers.get('location')]).toEqual([303, `/i/${id}/plain?lang=es`])
    expect((await storedOf(id))?.paymentMethods).toHaveLength(1)
    const { body } = await stage.get(`/i/${id}/plain?lang=es`)
    expect(body).toContain(String((await storedOf(id))?.paymentMethods[0]?.address))
    expect(body).toContain('data:image/png;base64,')
  })

  // Guarantee: no page of another origin chooses for a payer, or makes invoices in their name.
  it.each<[string, Readonly<Record<string, string>>]>([
    ['another origin', { Origin: 'https://evil.example' }],
    ['no origin', { Origin: '' }],
    ['an opaque origin', { Origin: 'null' }],
    ['a request that the browser calls foreign', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a request of another site of the same owner', { 'Sec-Fetch-Site': 'same-site' }],
  ])('refuses a form of %s in words, and changes nothing', async (_what, headers) => {
    const id = await fresh()
    const link = await stage.link({ kind: 'fixed', minor: 700n })
    for (const path of [`/i/${id}/plain/asset`, `/l/${link}/plain`]) {
      const answer = await form(path, { asset: 'usdt_ethereum', actionId: ACTION }, headers)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
      expect(await answer.text()).toContain('This form was not sent from this page')
    }
    expect((await storedOf(id))?.paymentMethods).toEqual([])
    expect(await stores.db.collection(INVOICES).countDocuments({ paymentLinkId: link })).toBe(0)
  })

  // Guarantee: one form and one amount make one invoice; a form that "Back" brings again, with another amount, makes another.
  it('makes an invoice for each amount that a kept form is sent with', async () => {
    const link = await stage.link({ kind: 'custom', minMinor: 500n, maxMinor: null })
    const send = (amount: string) => form(`/l/${link}/plain`, { amount, actionId: ACTION }, {}, '203.0.113.12')
    const answers = [await send('12'), ...(await Promise.all([send('13'), send('13.00')])), await send('12.00')]
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303])
    const places = answers.map(({ headers }) => headers.get('location') ?? '')
    expect([places[1] === places[2], places[0] === places[3], places[0] === places[1]]).toEqual([true, true, false])
    const made = await stores.db.collection(INVOICES).find({ paymentLinkId: link }).sort({ _id: 1 }).toArray()
    expect(made.map(({ fiat }) => fiat.minor)).toEqual(['1200', '1300'])
  })

  it('is limited as the requests of scripts are', async () => {
    const statuses: number[] = []
    for (let at = 0; at < 21; at += 1) {
      const link = await stage.link({ kind: 'fixed', minor: 700n })
      statuses.push((await form(`/l/${link}/plain`, { actionId: ACTION }, {}, '203.0.113.77')).status)
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 303), 429])
  })

  it.each([
    ['asset', { asset: 'gold', actionId: ACTION }],
    ['asset', { actionId: ACTION }],
    ['price', { actionId: 'no id' }],
  ])('says in words that a form is wrong: %s %j', async (what, fields) => {
    const answer = await form(`/i/${await fresh()}/plain/${what}`, fields as Record<string, string>)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
  })

  // Guarantee: whatever happens to a form, its payer reads what is true of it and has the way back; nothing is sent a second time.
  it.each([
    ['too large', 413, { asset: 'usdt_ethereum', actionId: ACTION, more: 'x'.repeat(2_000) }, {}],
    ['in no known charset', 400, { asset: 'usdt_ethereum' }, { 'Content-Type': `${FORM}; charset=x-none` }],
    ['of another page', 403, { asset: 'usdt_ethereum', actionId: ACTION }, { Origin: 'https://evil.example' }],
  ])('leads back from a form that is %s, and promises nothing', async (_what, status, fields, headers) => {
    const id = await fresh()
    const answer = await form(`/i/${id}/plain/asset?lang=en`, fields as Record<string, string>, headers)
    const body = await answer.text()
    expect([answer.status, answer.headers.get('refresh')]).toEqual([status, null])
    expect(body).toContain(`<a href="/i/${id}/plain?lang=en">Back to the page</a>`)
    expect(body).not.toMatch(PROMISE)
    expect((await storedOf(id))?.paymentMethods).toEqual([])
  })

  it('loads the page of a form again when the store is back, and says so', async () => {
    const id = await fresh()
    const find = stage.deps.invoices.findById
    stage.deps.invoices.findById = () => Promise.reject(new Error('the store is away'))
    const answer = await form(`/i/${id}/plain/asset`, { asset: 'usdt_ethereum', actionId: ACTION })
    stage.deps.invoices.findById = find
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(answer.headers.get('refresh')).toBe(`5; url=/i/${id}/plain`)
    expect(await answer.text()).toContain('This page loads as soon as there is one.')
  })

  it('is what the address of a form shows when it is opened again, in the language that was asked for', async () => {
    const id = await fresh()
    for (const kind of ['asset', 'price']) {
      const { status, headers } = await fetch(`${stage.url}/i/${id}/plain/${kind}?lang=ES`, { redirect: 'manual' })
      expect([status, headers.get('location')]).toEqual([303, `/i/${id}/plain?lang=es`])
    }
  })

  it('shows unknown ids, and text of strangers as text', async () => {
    const { status, body } = await stage.get('/i/01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40/plain')
    expect([status, body.includes('Page not found')]).toEqual([404, true])
    const id = await fresh()
    await stores.db
      .collection(INVOICES)
      .updateOne({ _id: id }, { $set: { description: '<script>alert(1)</script>\u202e' } })
    const page = (await stage.get(`/i/${id}/plain`)).body
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;␦')
    const large = (await stage.engine.open({ minor: 100_000_000n })).terms.id
    // An estimate is grouped as on the page with JavaScript.
    expect((await stage.get(`/i/${large}/plain`)).body).toMatch(/≈ 1\u202f0\d\d\u202f\d{3}\.\d\d USDT/)
  })
})

// Guarantee: an amount that no coin takes is said as that, with the smallest amount that one takes, and never as something that passes.
describe('an amount below every minimum', () => {
  it('is answered with the smallest amount that can be paid, and that amount can', async () => {
    const small = (await stage.engine.open({ minor: 1n })).terms.id
    const { body } = await stage.get(`/api/i/${small}?coins`)
    expect(body.options).toMatchObject({ assets: [], none: { cause: 'too_small' } })
    const least = body.options.none.least
    expect((await stage.get(`/i/${small}/plain`)).body).toContain(`${least} USD`)
    const link = (await stage.get(`/l/${await stage.link({ kind: 'fixed', minor: 1n })}/plain`)).body
    expect([link.includes(`${least} USD`), link.includes('<form')]).toEqual([true, false])
    const minor = BigInt(least.replace('.', ''))
    const assets = async (amount: bigint) =>
      (await stage.get(`/api/i/${(await stage.engine.open({ minor: amount })).terms.id}?coins`)).body.options.assets
        .length
    expect(await assets(minor)).toBeGreaterThan(0)
    expect(await assets(minor - 1n)).toBe(0)
  })
})
