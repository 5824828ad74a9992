import { describe, expect, it } from 'vitest'
import { parseDecimal } from '#shared/domain/money/money.ts'
import { type GuardMemory, type GuardVerdict, guard, isOffPeg, waitingJump } from './guard.ts'

const MINUTE = 60_000

/** Feeds prices through the guard, 15 s apart, and gives the verdicts. */
function run(
  name: string,
  prices: readonly string[],
  confirmed: boolean | null = null,
  stepMs = 15_000,
): readonly GuardVerdict[] {
  let memory: GuardMemory | null = null
  return prices.map((price, index) => {
    const now = index * stepMs
    const verdict = guard({ name, price: parseDecimal(price), now, receivedAt: now, memory, confirmed })
    memory = verdict.memory
    return verdict
  })
}

const outcomes = (verdicts: readonly GuardVerdict[]) => verdicts.map(({ publish, reason }) => [publish, reason])

describe('the jump guard', () => {
  it('lets moves of up to 10 % pass', () => {
    expect(outcomes(run('BTC', ['100', '110', '99']))).toEqual([
      [true, null],
      [true, null],
      [true, null],
    ])
  })

  it('wants a move of more than 10 % to be seen in two cycles', () => {
    expect(outcomes(run('BTC', ['100', '85', '85.5', '85']))).toEqual([
      [true, null],
      [false, 'jump_pending'],
      [true, null],
      [true, null],
    ])
  })

  it('forgets a jump that was gone in the next cycle', () => {
    expect(outcomes(run('BTC', ['100', '85', '100', '85']))).toEqual([
      [true, null],
      [false, 'jump_pending'],
      [true, null],
      [false, 'jump_pending'],
    ])
  })

  it('does not take two different jumps for a confirmation', () => {
    expect(run('BTC', ['100', '115', '85']).map((verdict) => verdict.publish)).toEqual([true, false, false])
  })

  // Money: a majority that is wrong alike must not set a price.
  it('refuses a move of more than 30 % for as long as nobody confirms it', () => {
    const verdicts = run('BTC', ['100', '1000', '1000', '1000', '100'])
    expect(verdicts.map((verdict) => verdict.publish)).toEqual([true, false, false, false, true])
    expect(verdicts[3]?.reason).toBe('jump_refused')
  })

  it('takes a confirmed move of more than 30 % in the second cycle', () => {
    expect(run('BTC', ['100', '60', '60'], true).map((verdict) => verdict.publish)).toEqual([true, false, true])
  })

  // Money: a majority that is wrong alike must not walk to its price either.
  it('refuses what is more than 30 % from a quarter of an hour ago, in steps of any size', () => {
    const walk = Array.from({ length: 30 }, (_, step) => String(100 + step * 2))
    const passed = run('BTC', walk).filter(({ publish }) => publish)
    expect(passed.at(-1)?.memory.last.price).toBe('130')
    expect(run('BTC', walk).at(-1)?.reason).toBe('jump_refused')
  })

  it('refuses what is more than 30 % from a day ago, a quarter of an hour at a time', () => {
    const walk = Array.from({ length: 60 }, (_, step) => String(100 + step))
    expect(
      run('BTC', walk, null, 16 * MINUTE)
        .filter(({ publish }) => publish)
        .at(-1)?.memory.last.price,
    ).toBe('130')
  })

  it('believes a slow move once the prices of a day ago are near it', () => {
    const walk = Array.from({ length: 100 }, (_, step) => String(100 + step))
    expect(run('BTC', walk, null, 2 * 60 * MINUTE).every(({ publish }) => publish)).toBe(true)
  })

  it('publishes nothing that the second opinion contradicts, and takes a confirmed price for the one to compare with', () => {
    expect(run('BTC', ['100', '85', '85', '85'], false).map(({ publish }) => publish)).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect(run('BTC', ['100', '60', '60'], true).at(-1)?.memory).toMatchObject({
      quarter: [{ price: '60' }],
      day: [{ price: '60' }],
    })
  })

  it('holds a jump that passed unconfirmed back only once', () => {
    expect(run('BTC', ['100', '115', '115', '116', '115']).map(({ publish }) => publish)).toEqual([
      true,
      false,
      true,
      true,
      true,
    ])
  })

  // Money: waiting is no confirmation.
  it('refuses a jump that has waited for two days', () => {
    const verdicts = run('BTC', ['100', ...Array.from({ length: 400 }, () => '200')], null, 10 * MINUTE)
    expect(verdicts.slice(1).every(({ publish }) => !publish)).toBe(true)
  })

  it('shows a jump while the sources say it, and not when they agree on nothing any more', () => {
    const memory = run('BTC', ['100', '1000'], null, 15_000)[1]?.memory
    expect(waitingJump(memory, 15_000)).toMatchObject({ price: '1000', since: 15_000 })
    expect(waitingJump(memory, 30_000)).toBeNull()
  })

  it('has nothing to compare with after a day', () => {
    expect(run('BTC', ['100', '1000'], null, 25 * 60 * MINUTE).map((verdict) => verdict.publish)).toEqual([true, true])
  })
})

describe('the peg guard', () => {
  it('warns beyond 1 % and stops beyond 3 %, on either side', () => {
    expect(outcomes(run('USDT', ['1', '0.985', '0.965']))).toEqual([
      [true, null],
      [true, 'depeg_warning'],
      [false, 'depeg_stopped'],
    ])
    expect(run('USDC', ['1.031'])[0]?.reason).toBe('depeg_stopped')
  })

  it('comes back only after ten minutes inside 2 %', () => {
    const inside = (count: number) => Array.from({ length: count }, () => '0.99')
    const verdicts = run('USDT', ['0.96', ...inside(5), '0.975', ...inside(6)], null, 2 * MINUTE)
    expect(verdicts.map((verdict) => verdict.publish)).toEqual([...Array.from({ length: 12 }, () => false), true])
  })

  // Guarantee: a coin that lost its peg is not sold again because nobody could see its price for ten minutes.
  it('does not count a time in which the sources agreed on nothing', () => {
    const verdicts = run('USDT', ['0.96', '0.99', '0.99', '0.99'], null, 11 * MINUTE)
    expect(outcomes(verdicts)).toEqual(verdicts.map(() => [false, 'depeg_stopped']))
  })

  it('says that a coin is off its peg in the cycles that saw it, and not when the sources agree on nothing any more', () => {
    const [stopped, inside] = run('USDT', ['0.96', '0.985']).map((verdict) => verdict.memory)
    expect([isOffPeg(stopped, 0), isOffPeg(inside, 15_000), isOffPeg(inside, 30_000)]).toEqual([true, true, false])
    expect([isOffPeg(run('USDT', ['0.999'])[0]?.memory, 0), isOffPeg(undefined, 0)]).toEqual([false, false])
  })

  it('does not touch coins', () => {
    expect(run('POL', ['0.112'])[0]).toMatchObject({ publish: true, reason: null })
  })
})
