import { afterAll, beforeAll, expect, it } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
let stage: CheckoutStage
beforeAll(async () => {
  stage = await openCheckout(stores)
})
afterAll(() => stage.close())

// Guarantee: a page that comes back to what it shows already is not sent it again.
it('a live line names each view by its content, and sends a known one no second time', async () => {
  const { id } = (await stage.engine.open({ asset: 'usdt_ethereum' })).terms
  const first = async (known: string) => {
    const abort = new AbortController()
    const answer = await fetch(`${stage.url}/api/i/${id}/live`, {
      signal: abort.signal,
      headers: known === '' ? {} : { 'Last-Event-ID': known },
    })
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!/event: \w+\ndata: .*\n\n/.test(text)) text += (await reader?.read())?.value ?? ''
    abort.abort()
    return text
  }
  const name = /id: (\S+)\nevent: view/.exec(await first(''))?.[1] ?? ''
  expect(name).not.toBe('')
  expect(await first('')).toContain(`id: ${name}\n`)
  expect(await first(name)).not.toContain('event: view')
  expect(await first('another')).toContain(`id: ${name}\nevent: view`)
})
