import { expect, it } from 'vitest'
import type { AuditRecord } from '#shared/ports/audit.ts'
import { TAKEN_BACK, TAKES_NOTHING_BACK, takesBack } from './taken-back.ts'

// Guarantee: an audited act cannot be added without saying whether a restore has to apply it again.
it('every action is in one of the two tables, and no other is one', () => {
  const row: Omit<AuditRecord, 'action'> = {
    ...{ id: 'row', at: 1, actor: 'user:x', subject: 'thing' },
    ...{ workspaceId: null, mode: null, detail: {} },
  }
  // @ts-expect-error An action that no table declares does not compile.
  const undeclared: AuditRecord = { ...row, action: 'thing.taken' }
  expect(takesBack(undeclared.action)).toBe(false)
  expect(TAKES_NOTHING_BACK.filter(takesBack)).toEqual([])
  expect(new Set(TAKES_NOTHING_BACK).size).toBe(TAKES_NOTHING_BACK.length)
  expect(Object.keys(TAKEN_BACK).every((action) => /^[a-z_]+\.[a-z_]+$/.test(action))).toBe(true)
})
