import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createOperationRegister } from '#shared/db/requests/operation-repository.ts'
import { useStores } from '#test/support/stores.ts'
import { beginOperation, type OperationRequest } from './begin-operation.ts'

const stores = useStores()
const deps = () => ({ ...stores.runtime, operationRegister: createOperationRegister(stores.db) })
const operationOf = (change: Partial<OperationRequest> = {}): OperationRequest => ({
  ...{ scope: 'workspace', opId: randomUUID(), actor: 'user:ana@example.com', procedure: 'members.setRole' },
  ...{ content: { userId: 'luis', from: 'viewer', to: 'support' } },
  ...change,
})
const MISMATCH = { code: 'IDEMPOTENCY_MISMATCH', status: 409 }

describe('an operation id', () => {
  // Guarantee: an id that was used says nothing about any other change, so it can never stand in for its audit row.
  it.each([
    ['another actor', { actor: 'user:eve@example.com' }],
    ['another procedure', { procedure: 'members.remove' }],
    ['other content', { content: { userId: 'luis', from: 'viewer', to: 'owner' } }],
    ['another target', { content: { userId: 'eve', from: 'viewer', to: 'support' } }],
    ['content with one field more', { content: { userId: 'luis', from: 'viewer', to: 'support', reason: 'x' } }],
  ])('is refused for %s', async (_what, change) => {
    const first = operationOf()
    await (await beginOperation(deps(), first)).end('done')
    await expect(beginOperation(deps(), { ...first, ...change })).rejects.toMatchObject(MISMATCH)
  })

  it('gives the same name to the same content in any order, and another to any other', async () => {
    const first = operationOf()
    const { id } = await beginOperation(deps(), first)
    const again = await beginOperation(deps(), { ...first, content: { to: 'support', from: 'viewer', userId: 'luis' } })
    expect(again.id).toBe(id)
    expect((await beginOperation(deps(), { ...first, opId: randomUUID() })).id).not.toBe(id)
    expect((await beginOperation(deps(), { ...first, scope: 'another workspace' })).id).not.toBe(id)
  })

  it('of two processes with other content at the same moment serves one', async () => {
    const first = operationOf()
    const requests = [first, { ...first, content: { userId: 'luis', from: 'viewer', to: 'owner' } }]
    const outcomes = await Promise.allSettled(requests.map((request) => beginOperation(deps(), request)))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('stays bound after a crash, and the same content may go on', async () => {
    const first = operationOf()
    const { at } = await beginOperation(deps(), first)
    expect(await beginOperation(deps(), first)).toMatchObject({ isDone: false, at })
    await expect(beginOperation(deps(), { ...first, content: {} })).rejects.toMatchObject(MISMATCH)
  })

  it('is free after a refusal, unless another request with the same content came in between', async () => {
    const first = operationOf()
    await (await beginOperation(deps(), first)).end('refused')
    const corrected = { ...first, content: { userId: 'luis', from: 'support', to: 'viewer' } }
    const [one, two] = [await beginOperation(deps(), corrected), await beginOperation(deps(), corrected)]
    await one.end('refused')
    await two.end('refused')
    await expect(beginOperation(deps(), first)).rejects.toMatchObject(MISMATCH)
  })

  // Guarantee: in no order of requests and outcomes does an id that succeeded with one content serve another.
  it('serves at most one content that succeeded, whatever the order', async () => {
    const step = fc.record({
      content: fc.integer({ min: 0, max: 2 }),
      outcome: fc.constantFrom('done', 'refused', 'unknown'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        const opId = randomUUID()
        const succeeded = new Set<number>()
        for (const { content, outcome } of steps) {
          const begun = await beginOperation(deps(), operationOf({ opId, content: { content } })).catch(() => null)
          if (begun === null) continue
          expect(begun.isDone).toBe(succeeded.has(content))
          if (outcome === 'done') succeeded.add(content)
          await begun.end(outcome as 'done' | 'refused' | 'unknown')
        }
        expect(succeeded.size).toBeLessThanOrEqual(1)
      }),
      { numRuns: 25 },
    )
  })
})
