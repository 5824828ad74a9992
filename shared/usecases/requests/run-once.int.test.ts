import { randomBytes } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { createIdempotencyRepository } from '#shared/db/requests/idempotency-repository.ts'
import type { Answer } from '#shared/ports/answer.ts'
import { after } from '#shared/runtime/process/timers.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { useStores } from '#test/support/stores.ts'
import { type OperationIds, type RunOnceDeps, runOnce } from './run-once.ts'

const stores = useStores()
const secretBox = createSecretBox(randomBytes(32))
const created: Answer = { status: 201, body: '{"data":1}', replayed: false }

function deps(): RunOnceDeps {
  return { ...stores.runtime, after, secretBox, idempotency: createIdempotencyRepository(stores.db) }
}

function once() {
  return { scope: stores.runtime.random.uuid(), fingerprint: 'f', requestId: 'req_1' }
}

describe('runOnce', () => {
  /** An insert may take effect although its answer is lost: the retry must meet it under the same id, not make a second one. */
  test('an unexpected failure keeps the ids for the retry, at once', async () => {
    const scope = once()
    const seen: OperationIds[] = []
    const operation = (outcome: () => Answer) => async (ids: OperationIds) => {
      seen.push(ids)
      return outcome()
    }
    const lost = operation(() => {
      throw new Error('the answer of the store was lost')
    })
    await expect(runOnce(deps(), scope, lost)).rejects.toThrow('lost')
    expect(
      await runOnce(
        deps(),
        scope,
        operation(() => created),
      ),
    ).toEqual(created)
    expect(seen[1]).toEqual(seen[0])
    expect(await runOnce(deps(), scope, lost)).toEqual({ ...created, replayed: true })
    expect(seen).toHaveLength(2)
  })

  test('an answer that cannot be stored keeps the ids as well', async () => {
    const scope = once()
    const whole = deps()
    const broken: RunOnceDeps = {
      ...whole,
      idempotency: { ...whole.idempotency, finish: () => Promise.reject(new Error('no primary')) },
    }
    const seen: string[] = []
    const operation = async ({ resourceId }: OperationIds) => {
      seen.push(resourceId)
      return created
    }
    await expect(runOnce(broken, scope, operation)).rejects.toThrow('no primary')
    await runOnce(whole, scope, operation)
    expect(seen[1]).toBe(seen[0])
  })

  /** The workspace may be restricted when the retry comes; lifting that must not make the retry create a second one. */
  test('a refusal between a failure and its retry keeps the ids', async () => {
    const scope = once()
    const seen: string[] = []
    const operation = async ({ resourceId }: OperationIds) => {
      seen.push(resourceId)
      if (seen.length === 1) throw new Error('the answer of the store was lost')
      return created
    }
    await expect(runOnce(deps(), scope, operation)).rejects.toThrow('lost')
    const refused = () => Promise.reject(new PaymeshError('WORKSPACE_RESTRICTED'))
    await expect(runOnce(deps(), scope, refused)).rejects.toThrow(PaymeshError)
    await runOnce(deps(), scope, operation)
    expect(seen[1]).toBe(seen[0])
  })

  test('a refusal that is no outcome frees the key for another body', async () => {
    const scope = once()
    const refused = () => Promise.reject(new PaymeshError('VALIDATION_ERROR'))
    await expect(runOnce(deps(), scope, refused)).rejects.toThrow(PaymeshError)
    expect(await runOnce(deps(), { ...scope, fingerprint: 'g' }, async () => created)).toEqual(created)
  })

  // Guarantee: every request of a key gets the same answer, also one that was overtaken by its own retry.
  test.each([
    ['an answer', async (): Promise<Answer> => ({ ...created, body: '{"data":1,"request_id":"req_1"}' })],
    ['a refusal', () => Promise.reject(new PaymeshError('INVALID_STATE'))],
  ] as const)('%s of a request that its retry has overtaken is that of the retry', async (_, late) => {
    const scope = once()
    const whole = deps()
    const slow: RunOnceDeps = { ...whole, after: () => () => undefined }
    let end = (): void => undefined
    const waits = new Promise<void>((resolve) => (end = resolve))
    let begun = (): void => undefined
    const runs = new Promise<void>((resolve) => (begun = resolve))
    const overtaken = runOnce(slow, scope, async () => {
      begun()
      await waits
      return await late()
    })
    await runs
    const later: RunOnceDeps = { ...whole, clock: { now: () => whole.clock.now() + 6_000 } }
    const retried = { ...created, body: '{"data":1,"request_id":"req_2"}' }
    expect(await runOnce(later, { ...scope, requestId: 'req_2' }, async () => retried)).toEqual(retried)
    end()
    expect(await overtaken).toEqual({ ...retried, replayed: true })
  })

  test('a business refusal is repeated', async () => {
    const scope = once()
    const refused = () => Promise.reject(new PaymeshError('INVALID_STATE'))
    await expect(runOnce(deps(), scope, refused)).rejects.toThrow(PaymeshError)
    expect(await runOnce(deps(), scope, async () => created)).toMatchObject({ status: 409, replayed: true })
  })

  // Guarantee: a key left by a killed process is free after 5 s, and never while its request runs.
  test('a lease is renewed while the operation runs, and runs out after 5 s without renewal', async () => {
    const scope = once()
    let nowMs = stores.runtime.clock.now()
    const timers: (() => void)[] = []
    const virtual: RunOnceDeps = {
      ...deps(),
      clock: { now: () => nowMs },
      after: (_delayMs, run) => {
        timers.push(run)
        return () => undefined
      },
    }
    let finish = (_answer: Answer): void => undefined
    const running = runOnce(virtual, scope, () => new Promise<Answer>((resolve) => (finish = resolve)))
    await vi.waitFor(() => expect(timers).toHaveLength(1))
    const twin = () => runOnce(virtual, scope, async () => created)
    nowMs += 4_999
    await expect(twin()).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' })
    timers.shift()?.()
    await vi.waitFor(async () => {
      expect((await virtual.idempotency.find(scope.scope))?.leaseUntil).toBe(nowMs + 5_000)
    })
    nowMs += 4_999
    await expect(twin()).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' })
    nowMs += 2
    expect(await twin()).toEqual(created)
    // The first one was only slow: its answer comes too late to change what was stored.
    finish({ ...created, body: '{"data":2}' })
    await running
    expect(await twin()).toEqual({ ...created, replayed: true })
  })
})
