import { SkeinError } from '../../../src/base/errors.js';
/** What a call throws, as a SkeinError. */
export function thrown(call) {
    try {
        call();
    }
    catch (error) {
        if (SkeinError.isInstance(error))
            return error;
        throw error;
    }
    throw new Error('nothing was thrown');
}
/** The problems for which a graph is refused. */
export function problemsOf(flow) {
    const { code, details } = thrown(() => flow.compile());
    if (code !== 'SKEIN_DEFINITION')
        throw new Error(`not about the definition: ${code}`);
    return details.problems;
}
/** The codes of the errors among them, in order. */
export function codesOf(flow) {
    return problemsOf(flow).flatMap(({ code, severity }) => (severity === 'error' ? [code] : []));
}
