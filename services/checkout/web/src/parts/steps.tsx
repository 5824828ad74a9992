import type { MessageKey } from '../locales/en.ts'
import { useSpeech } from '../locales/locale.tsx'
import { Icon } from './icon.tsx'

/** Progress. `at` = number of completed steps. */
export function Steps({ names, at }: { readonly names: readonly MessageKey[]; readonly at: number }) {
  const { say } = useSpeech()
  return (
    <ol class="steps" aria-label={say('steps')}>
      {names.map((name, index) => (
        <li
          key={name}
          class={index < at ? 'done' : index === at ? 'now' : ''}
          aria-current={index === at ? 'step' : undefined}
        >
          {index < at && <Icon name="check" />}
          {say(name)}
        </li>
      ))}
    </ol>
  )
}
