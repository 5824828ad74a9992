import { useQueryClient } from '@tanstack/react-query'
import { useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { api } from '../../api/trpc.ts'
import { LogInForms, type LogInStep } from './log-in-forms.tsx'

/**
 * The log-in above a page whose session ended while it was open. It covers the page, so that nothing of it can be read or used, and keeps
 * it, so that nothing that was typed is lost. Another person than `email` gets their own page.
 */
export function LogInAgain({ email }: { readonly email: string }) {
  const client = useQueryClient()
  const [step, setStep] = useState<LogInStep>('password')
  const cover = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const before = document.activeElement
    const others = [...document.body.children].filter(
      (element): element is HTMLElement =>
        element instanceof HTMLElement && element !== cover.current && !element.inert,
    )
    for (const element of others) element.inert = true
    cover.current?.querySelector<HTMLElement>('input')?.focus()
    return () => {
      for (const element of others) element.inert = false
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  const enter = async () => {
    const person = await api.auth.me.query()
    if (person.email !== email) return window.location.assign('/')
    await client.invalidateQueries()
  }
  return createPortal(
    <div ref={cover} className="pm-body pm-again" role="dialog" aria-modal="true" aria-labelledby="log-in-again">
      <main className="pm-alone">
        <h1 id="log-in-again">Log in again</h1>
        <p className="pm-gap-bottom">Your session ended. What you typed is kept: continue where you left off.</p>
        <LogInForms step={step} onStep={setStep} onDone={() => void enter()} />
      </main>
    </div>,
    document.body,
  )
}
