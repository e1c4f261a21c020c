"""Prediction of large runs from small ones by thread graphs (semi-empirical prediction, Xu, Zhang and Sun 1996).

`graph` is the model and its text form, `instantiate` makes flat code of it for given parameters and N, `traverse` is
algorithm G over that code. Nothing here runs programs or knows of studies' files.
"""
