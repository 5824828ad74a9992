import { afterEach, expect, it, vi } from 'vitest'
import { announceSent } from './announced.ts'

afterEach(() => vi.unstubAllGlobals())

const INVOICE = '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e41'
const shown = () => new Response(JSON.stringify({ now: 1, view: { id: INVOICE } }))

it('a transaction that is announced while it is announced costs one request, and may be announced again later', async () => {
  const answers: ((response: Response) => void)[] = []
  vi.stubGlobal('fetch', async () => await new Promise<Response>((resolve) => answers.push(resolve)))
  const accept = vi.fn()
  const announcements = ['0xaa', '0xaa', '0xbb'].map((txHash) => announceSent(INVOICE, txHash, accept))
  expect(answers).toHaveLength(2)
  for (const answer of answers) answer(shown())
  await Promise.all(announcements)
  expect(accept).toHaveBeenCalledTimes(2)
  const again = announceSent(INVOICE, '0xaa', accept)
  expect(answers).toHaveLength(3)
  answers[2]?.(shown())
  await again
})
