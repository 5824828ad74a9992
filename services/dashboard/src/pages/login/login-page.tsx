import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { api } from '../../api/trpc.ts'
import { Logo } from '../../frame/logo.tsx'
import { Page } from '../../parts/page.tsx'
import { safeBack } from '../../session/safe-back.ts'
import { LogInForms, type LogInStep } from './log-in-forms.tsx'

/** The log-in, and the way back to the page that was asked for. */
export function LoginPage() {
  const [params] = useSearchParams()
  const back = safeBack(params.get('back'))
  const client = useQueryClient()
  const navigate = useNavigate()
  const [step, setStep] = useState<LogInStep>('password')
  useEffect(() => {
    const look = async () => {
      const { state } = await api.auth.state.query()
      if (state === 'code') setStep('code')
      if (state === 'in') await navigate(back, { replace: true })
    }
    // Without a response the form is shown anyway; submitting it shows the fault.
    look().catch(() => {})
  }, [back, navigate])
  const enter = async () => {
    client.clear()
    await navigate(back, { replace: true })
  }
  return (
    <main className="pm-body pm-alone">
      <div className="pm-row pm-muted">
        <Logo /> Paymesh
      </div>
      <Page title="Log in">
        <LogInForms step={step} onStep={setStep} onDone={() => void enter()} />
      </Page>
    </main>
  )
}
