import { TRPCClientError, type TRPCLink } from '@trpc/client'
import { observable } from '@trpc/server/observable'
import type { AppRouter } from '#services/admin/app-router.ts'
import { takeFirst } from '../first/first-reads.ts'

/** Answers a question that the first script of the document asked already; passes every other one, and those it got no answer to. */
export const firstAnswers: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) => {
    const first = op.type === 'query' ? takeFirst(op.path, op.input) : null
    if (first === null) return next(op)
    return observable((observer) => {
      let passed: { unsubscribe: () => void } | null = null
      let isOver = false
      void first.then((answer) => {
        if (isOver) return
        if (answer === null) passed = next(op).subscribe(observer)
        else if ('error' in answer) observer.error(TRPCClientError.from(answer.error))
        else {
          observer.next({ result: { type: 'data', data: answer.data } })
          observer.complete()
        }
      })
      return () => {
        isOver = true
        passed?.unsubscribe()
      }
    })
  }
