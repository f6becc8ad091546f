//! The binary, as its users see it.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod answering;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod bundled;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod clock;
#[cfg(test)]
mod computing;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod conversing;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod edges;
#[cfg(test)]
mod failing;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod helpdesk;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod in_memory;
#[cfg(test)]
mod learning;
#[cfg(test)]
mod obeying;
#[cfg(test)]
mod offline;
#[cfg(test)]
mod outage;
#[cfg(test)]
mod own_tools;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod races;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod redaction;
#[cfg(test)]
mod routes;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod scans;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod server;
#[cfg(test)]
mod spending;
#[cfg(test)]
mod storm;
#[cfg(test)]
mod understanding;
