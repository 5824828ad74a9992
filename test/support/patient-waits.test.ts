import { expect, it, vi } from 'vitest'

/** More looks than a wait of these few milliseconds would take on any machine. */
const LOOKS = 200

it.each([
  ['waitFor, a number', (callback: () => boolean) => vi.waitFor(() => expect(callback()).toBe(true), 1)],
  [
    'waitFor',
    (callback: () => boolean) => vi.waitFor(() => expect(callback()).toBe(true), { timeout: 1, interval: 1 }),
  ],
  ['waitUntil', (callback: () => boolean) => vi.waitUntil(callback, { timeout: 1, interval: 1 })],
])('%s waits longer than a test that measures the machine asks for', async (name, wait) => {
  let looks = 0
  const enough = name.endsWith('number') ? 5 : LOOKS
  await wait(() => {
    looks += 1
    return looks >= enough
  })
  expect(looks).toBe(enough)
})
