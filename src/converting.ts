/** Converting Agentfiles to trees and back, for the command line. */
export { agentfileOf } from './notations/agentfile/convert/to-agentfile.js';
export { convertAgentfile } from './notations/agentfile/load.js';
