import type { Language } from '../words/language.ts'

const en = {
  absent: 'Not found. It may belong to another workspace, or to the other mode (live or test).',
  removed: 'It is no longer here: it was removed, or you may no longer see it.',
  old: (what: string, time: string) => `Could not refresh ${what}. You see what was read at ${time}.`,
  failed: (what: string) => `Could not load ${what}. No changes were made.`,
  offline: 'The server did not respond.',
  retry: 'Try again',
  request: 'Request',
}
type Words = typeof en

const es: Words = {
  absent: 'No se encontró. Puede pertenecer a otro espacio de trabajo o al otro modo (real o de prueba).',
  removed: 'Ya no está: se eliminó o ya no tienes acceso.',
  old: (what, time) => `No se pudo actualizar ${what}. Ves lo que se leyó a las ${time}.`,
  failed: (what) => `Error al cargar ${what}. No se cambió nada.`,
  offline: 'El servidor no respondió.',
  retry: 'Intentar de nuevo',
  request: 'Solicitud',
}

const pt: Words = {
  absent: 'Não encontrado. Pode pertencer a outro espaço de trabalho ou ao outro modo (real ou de teste).',
  removed: 'Não está mais aqui: foi removido ou você não tem mais acesso.',
  old: (what, time) => `Não foi possível atualizar ${what}. Você vê o que foi lido às ${time}.`,
  failed: (what) => `Erro ao carregar ${what}. Nada foi alterado.`,
  offline: 'O servidor não respondeu.',
  retry: 'Tentar de novo',
  request: 'Solicitação',
}

/** What a page or card says when its data failed to load. `failed` takes the end of its sentence. */
export const LOAD_ERROR_WORDS: Readonly<Record<Language, Words>> = { en, es, pt }
