import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { challengeText, isDisplaced, needsProof, newestProof } from './ownership.ts'

const FACTS = {
  ...({ installationId: 'inst-1', workspaceId: 'ws-1', mode: 'live', nonce: 'ab'.repeat(16) } as const),
  ...{ subject: 'address 0x1', validUntil: '2026-11-23T17:00:00.000Z' },
}
const workspace = fc.constantFrom('a', 'b', 'c')
const proof = fc.option(fc.record({ workspaceId: workspace, provedAt: fc.nat(1_000) }))

describe('the text of a challenge', () => {
  it('is one line of printable ASCII', () => {
    expect(challengeText(FACTS)).toMatch(/^[\x20-\x7e]+$/)
  })

  // Guarantee: a signature for one installation, workspace, mode, subject, nonce or expiry is one for no other.
  it.each([
    ['installation', { installationId: 'inst-2' }],
    ['workspace', { workspaceId: 'ws-2' }],
    ['mode', { mode: 'test' }],
    ['subject', { subject: 'address 0x2' }],
    ['nonce', { nonce: 'cd'.repeat(16) }],
    ['expiry', { validUntil: '2026-11-23T17:00:00.001Z' }],
  ] as const)('differs with the %s', (_name, change) => {
    expect(challengeText({ ...FACTS, ...change })).not.toBe(challengeText(FACTS))
  })
})

describe('needing a proof', () => {
  const base = { mode: 'live', liveWorkspaces: 2, workspaceId: 'a' } as const

  it.each([
    ['the only workspace, unknown address', { ...base, liveWorkspaces: 1 }, { isOwn: false, proof: null }, false],
    ['several workspaces, unknown address', base, { isOwn: false, proof: null }, true],
    ['several workspaces, own address', base, { isOwn: true, proof: null }, false],
    [
      'the only live workspace, proved by another',
      { ...base, liveWorkspaces: 1 },
      { isOwn: false, proof: { workspaceId: 'b', provedAt: 1 } },
      true,
    ],
    ['own address, proved by another since', base, { isOwn: true, proof: { workspaceId: 'b', provedAt: 1 } }, true],
    ['own address, proved', base, { isOwn: true, proof: { workspaceId: 'a', provedAt: 1 } }, false],
    [
      'test mode',
      { ...base, mode: 'test' as const },
      { isOwn: false, proof: { workspaceId: 'b', provedAt: 1 } },
      false,
    ],
  ])('%s', (_name, facts, subject, expected) => {
    expect(needsProof({ ...facts, subjects: [subject] })).toBe(expected)
  })

  // Guarantee: with several workspaces the answer about what is not one's own says nothing of others.
  it('does not depend on what others have', () => {
    fc.assert(
      fc.property(fc.array(proof, { minLength: 1 }), fc.integer({ min: 2, max: 9 }), (proofs, liveWorkspaces) => {
        const request = (subjects: typeof proofs) =>
          needsProof({ ...base, liveWorkspaces, subjects: subjects.map((one) => ({ isOwn: false, proof: one })) })
        expect(request(proofs)).toBe(request(proofs.map(() => null)))
      }),
    )
  })
})

describe('money on a proved address', () => {
  // Guarantee: it settles no invoice of anybody but the prover from the proof on, and before the proof nothing changes.
  it('is kept from others exactly from the proof on', () => {
    fc.assert(
      fc.property(proof, workspace, fc.nat(1_000), (one, holder, seenAt) => {
        const expected = one !== null && one.workspaceId !== holder && seenAt >= one.provedAt
        expect(isDisplaced(one, holder, seenAt)).toBe(expected)
        if (one !== null) expect(isDisplaced(one, one.workspaceId, seenAt)).toBe(false)
      }),
      { numRuns: 2_000 },
    )
  })

  it('follows the newest proof, in whatever order they are given', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ workspaceId: workspace, provedAt: fc.nat(1_000) }), {
          selector: (one) => one.provedAt,
        }),
        (proofs) => {
          const newest = newestProof(...proofs)
          expect(newestProof(...proofs.toReversed(), null, undefined)).toEqual(newest)
          expect(newest?.provedAt ?? -1).toBe(Math.max(-1, ...proofs.map(({ provedAt }) => provedAt)))
        },
      ),
    )
  })
})
