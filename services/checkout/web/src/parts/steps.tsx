import type { Word } from '../words/en.ts'
import { useSpeech } from '../words/words.tsx'
import { Icon } from './icon.tsx'

/** How far one has come. `at` = how many steps are done. */
export function Steps({ names, at }: { readonly names: readonly Word[]; readonly at: number }) {
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
